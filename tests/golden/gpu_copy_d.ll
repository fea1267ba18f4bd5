; ModuleID = "copy_d"
target triple = "nvptx64-nvidia-cuda"
target datalayout = ""

define ptx_kernel void @"copy_d"(ptr addrspace(1) noalias align 16 %"A", ptr addrspace(1) noalias align 16 %"B")
{
entry:
  %"block" = call i32 @"llvm.nvvm.read.ptx.sreg.ctaid.x"(), !range !2
  %".4" = urem i32 %"block", 3
  %".5" = udiv i32 %"block", 3
  %".6" = zext i32 %".4" to i64
  %".7" = mul nsw i64 %".6", 16384
  %".8" = add nsw i64 0, %".7"
  %".9" = zext i32 %".5" to i64
  %".10" = mul nsw i64 %".9", 256
  %".11" = add nsw i64 %".8", %".10"
  %"a" = getelementptr inbounds i8, ptr addrspace(1) %"A", i64 %".11"
  %".12" = zext i32 %".4" to i64
  %".13" = mul nsw i64 %".12", 256
  %".14" = add nsw i64 0, %".13"
  %".15" = zext i32 %".5" to i64
  %".16" = mul nsw i64 %".15", 24576
  %".17" = add nsw i64 %".14", %".16"
  %"b" = getelementptr inbounds i8, ptr addrspace(1) %"B", i64 %".17"
  %"thread" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.x"(), !range !3
  %".18" = urem i32 %"thread", 16
  %".19" = udiv i32 %"thread", 16
  %".20" = urem i32 %"thread", 16
  %".21" = udiv i32 %"thread", 16
  %".22" = mul nsw i32 %".20", 16
  %".23" = mul nsw i32 %".21", 1024
  %".24" = add nsw i32 %".22", %".23"
  %".25" = zext i32 %".24" to i64
  %".26" = getelementptr inbounds i8, ptr addrspace(1) %"a", i64 %".25"
  %".27" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 512
  %"a.1" = load <2 x i64>, ptr addrspace(1) %".26", align 16, !invariant.load !4
  %".28" = extractelement <2 x i64> %"a.1", i32 0
  %".29" = extractelement <2 x i64> %"a.1", i32 1
  %"a.2" = load <2 x i64>, ptr addrspace(1) %".27", align 16, !invariant.load !4
  %".30" = extractelement <2 x i64> %"a.2", i32 0
  %".31" = extractelement <2 x i64> %"a.2", i32 1
  %".32" = mul nsw i32 %".20", 66
  %".33" = mul nsw i32 %".21", 2
  %".34" = mul nsw i32 %".32", 8
  %".35" = mul nsw i32 %".33", 8
  %".36" = add nsw i32 %".34", %".35"
  %".37" = zext i32 %".36" to i64
  %".38" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".37"
  %".39" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".28", i32 0
  %".40" = insertelement <2 x i64> %".39", i64 %".30", i32 1
  store <2 x i64> %".40", ptr addrspace(3) %".38", align 16
  %".42" = getelementptr inbounds i8, ptr addrspace(3) %".38", i64 256
  %".43" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".29", i32 0
  %".44" = insertelement <2 x i64> %".43", i64 %".31", i32 1
  store <2 x i64> %".44", ptr addrspace(3) %".42", align 16
  call void @"llvm.nvvm.barrier0"()
  %".47" = mul nsw i32 %".18", 2
  %".48" = udiv i32 %".19", 2
  %".49" = urem i32 %".19", 2
  %".50" = mul nsw i32 %".48", 66
  %".51" = mul nsw i32 %".49", 32
  %".52" = mul nsw i32 %".47", 8
  %".53" = mul nsw i32 %".50", 8
  %".54" = mul nsw i32 %".51", 8
  %".55" = add nsw i32 %".52", %".53"
  %".56" = add nsw i32 %".55", %".54"
  %".57" = zext i32 %".56" to i64
  %".58" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".57"
  %"s" = load <2 x i64>, ptr addrspace(3) %".58", align 16
  %".59" = extractelement <2 x i64> %"s", i32 0
  %".60" = extractelement <2 x i64> %"s", i32 1
  %".61" = getelementptr inbounds i8, ptr addrspace(3) %".58", i64 4224
  %"s.1" = load <2 x i64>, ptr addrspace(3) %".61", align 16
  %".62" = extractelement <2 x i64> %"s.1", i32 0
  %".63" = extractelement <2 x i64> %"s.1", i32 1
  %".64" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".59", i32 0
  %".65" = insertelement <2 x i64> %".64", i64 %".60", i32 1
  %".66" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".62", i32 0
  %".67" = insertelement <2 x i64> %".66", i64 %".63", i32 1
  %".68" = mul nsw i32 %".18", 16
  %".69" = mul nsw i32 %".19", 768
  %".70" = add nsw i32 %".68", %".69"
  %".71" = zext i32 %".70" to i64
  %".72" = getelementptr inbounds i8, ptr addrspace(1) %"b", i64 %".71"
  store <2 x i64> %".65", ptr addrspace(1) %".72", align 16
  %".74" = getelementptr inbounds i8, ptr addrspace(1) %".72", i64 12288
  store <2 x i64> %".67", ptr addrspace(1) %".74", align 16
  ret void
}

declare i32 @"llvm.nvvm.read.ptx.sreg.ctaid.x"()

@"tile" = internal addrspace(3) global [8432 x i8] undef, align 16
declare i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()

declare void @"llvm.nvvm.barrier0"()

!nvvm.annotations = !{ !0, !1 }
!0 = !{ void (ptr addrspace(1), ptr addrspace(1))* @"copy_d", !"maxntidx", i32 256 }
!1 = !{ void (ptr addrspace(1), ptr addrspace(1))* @"copy_d", !"minctasm", i32 6 }
!2 = !{ i32 0, i32 6 }
!3 = !{ i32 0, i32 256 }
!4 = !{  }