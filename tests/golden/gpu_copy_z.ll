; ModuleID = "copy_z"
target triple = "nvptx64-nvidia-cuda"
target datalayout = ""

define ptx_kernel void @"copy_z"(ptr addrspace(1) noalias align 16 %"A", ptr addrspace(1) noalias align 16 %"B")
{
entry:
  %"block" = call i32 @"llvm.nvvm.read.ptx.sreg.ctaid.x"(), !range !2
  %".4" = urem i32 %"block", 3
  %".5" = udiv i32 %"block", 3
  %".6" = zext i32 %".4" to i64
  %".7" = mul nsw i64 %".6", 32768
  %".8" = add nsw i64 0, %".7"
  %".9" = zext i32 %".5" to i64
  %".10" = mul nsw i64 %".9", 512
  %".11" = add nsw i64 %".8", %".10"
  %"a" = getelementptr inbounds i8, ptr addrspace(1) %"A", i64 %".11"
  %".12" = zext i32 %".4" to i64
  %".13" = mul nsw i64 %".12", 512
  %".14" = add nsw i64 0, %".13"
  %".15" = zext i32 %".5" to i64
  %".16" = mul nsw i64 %".15", 49152
  %".17" = add nsw i64 %".14", %".16"
  %"b" = getelementptr inbounds i8, ptr addrspace(1) %"B", i64 %".17"
  %"thread" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.x"(), !range !3
  %".18" = urem i32 %"thread", 32
  %".19" = udiv i32 %"thread", 32
  %".20" = urem i32 %"thread", 32
  %".21" = udiv i32 %"thread", 32
  %".22" = mul nsw i32 %".20", 16
  %".23" = mul nsw i32 %".21", 1024
  %".24" = add nsw i32 %".22", %".23"
  %".25" = zext i32 %".24" to i64
  %".26" = getelementptr inbounds i8, ptr addrspace(1) %"a", i64 %".25"
  %"a.1" = load <2 x i64>, ptr addrspace(1) %".26", align 16, !invariant.load !4
  %".27" = extractelement <2 x i64> %"a.1", i32 0
  %".28" = extractelement <2 x i64> %"a.1", i32 1
  %".29" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 8192
  %"a.2" = load <2 x i64>, ptr addrspace(1) %".29", align 16, !invariant.load !4
  %".30" = extractelement <2 x i64> %"a.2", i32 0
  %".31" = extractelement <2 x i64> %"a.2", i32 1
  %".32" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 16384
  %"a.3" = load <2 x i64>, ptr addrspace(1) %".32", align 16, !invariant.load !4
  %".33" = extractelement <2 x i64> %"a.3", i32 0
  %".34" = extractelement <2 x i64> %"a.3", i32 1
  %".35" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 24576
  %"a.4" = load <2 x i64>, ptr addrspace(1) %".35", align 16, !invariant.load !4
  %".36" = extractelement <2 x i64> %"a.4", i32 0
  %".37" = extractelement <2 x i64> %"a.4", i32 1
  %".38" = mul nsw i32 %".20", 33
  %".39" = mul nsw i32 %".38", 16
  %".40" = mul nsw i32 %".21", 16
  %".41" = add nsw i32 %".39", %".40"
  %".42" = zext i32 %".41" to i64
  %".43" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".42"
  %".44" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".27", i32 0
  %".45" = insertelement <2 x i64> %".44", i64 %".28", i32 1
  store <2 x i64> %".45", ptr addrspace(3) %".43", align 16
  %".47" = getelementptr inbounds i8, ptr addrspace(3) %".43", i64 128
  %".48" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".30", i32 0
  %".49" = insertelement <2 x i64> %".48", i64 %".31", i32 1
  store <2 x i64> %".49", ptr addrspace(3) %".47", align 16
  %".51" = getelementptr inbounds i8, ptr addrspace(3) %".43", i64 256
  %".52" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".33", i32 0
  %".53" = insertelement <2 x i64> %".52", i64 %".34", i32 1
  store <2 x i64> %".53", ptr addrspace(3) %".51", align 16
  %".55" = getelementptr inbounds i8, ptr addrspace(3) %".43", i64 384
  %".56" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".36", i32 0
  %".57" = insertelement <2 x i64> %".56", i64 %".37", i32 1
  store <2 x i64> %".57", ptr addrspace(3) %".55", align 16
  call void @"llvm.nvvm.barrier0"()
  %".60" = mul nsw i32 %".19", 33
  %".61" = mul nsw i32 %".18", 16
  %".62" = mul nsw i32 %".60", 16
  %".63" = add nsw i32 %".61", %".62"
  %".64" = zext i32 %".63" to i64
  %".65" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".64"
  %"s" = load <2 x i64>, ptr addrspace(3) %".65", align 16
  %".66" = extractelement <2 x i64> %"s", i32 0
  %".67" = extractelement <2 x i64> %"s", i32 1
  %".68" = getelementptr inbounds i8, ptr addrspace(3) %".65", i64 4224
  %"s.1" = load <2 x i64>, ptr addrspace(3) %".68", align 16
  %".69" = extractelement <2 x i64> %"s.1", i32 0
  %".70" = extractelement <2 x i64> %"s.1", i32 1
  %".71" = getelementptr inbounds i8, ptr addrspace(3) %".65", i64 8448
  %"s.2" = load <2 x i64>, ptr addrspace(3) %".71", align 16
  %".72" = extractelement <2 x i64> %"s.2", i32 0
  %".73" = extractelement <2 x i64> %"s.2", i32 1
  %".74" = getelementptr inbounds i8, ptr addrspace(3) %".65", i64 12672
  %"s.3" = load <2 x i64>, ptr addrspace(3) %".74", align 16
  %".75" = extractelement <2 x i64> %"s.3", i32 0
  %".76" = extractelement <2 x i64> %"s.3", i32 1
  %".77" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".66", i32 0
  %".78" = insertelement <2 x i64> %".77", i64 %".67", i32 1
  %".79" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".69", i32 0
  %".80" = insertelement <2 x i64> %".79", i64 %".70", i32 1
  %".81" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".72", i32 0
  %".82" = insertelement <2 x i64> %".81", i64 %".73", i32 1
  %".83" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".75", i32 0
  %".84" = insertelement <2 x i64> %".83", i64 %".76", i32 1
  %".85" = mul nsw i32 %".19", 1536
  %".86" = add nsw i32 %".61", %".85"
  %".87" = zext i32 %".86" to i64
  %".88" = getelementptr inbounds i8, ptr addrspace(1) %"b", i64 %".87"
  store <2 x i64> %".78", ptr addrspace(1) %".88", align 16
  %".90" = getelementptr inbounds i8, ptr addrspace(1) %".88", i64 12288
  store <2 x i64> %".80", ptr addrspace(1) %".90", align 16
  %".92" = getelementptr inbounds i8, ptr addrspace(1) %".88", i64 24576
  store <2 x i64> %".82", ptr addrspace(1) %".92", align 16
  %".94" = getelementptr inbounds i8, ptr addrspace(1) %".88", i64 36864
  store <2 x i64> %".84", ptr addrspace(1) %".94", align 16
  ret void
}

declare i32 @"llvm.nvvm.read.ptx.sreg.ctaid.x"()

@"tile" = internal addrspace(3) global [16880 x i8] undef, align 16
declare i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()

declare void @"llvm.nvvm.barrier0"()

!nvvm.annotations = !{ !0, !1 }
!0 = !{ void (ptr addrspace(1), ptr addrspace(1))* @"copy_z", !"maxntidx", i32 256 }
!1 = !{ void (ptr addrspace(1), ptr addrspace(1))* @"copy_z", !"minctasm", i32 5 }
!2 = !{ i32 0, i32 6 }
!3 = !{ i32 0, i32 256 }
!4 = !{  }