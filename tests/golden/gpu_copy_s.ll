; ModuleID = "copy_s"
target triple = "nvptx64-nvidia-cuda"
target datalayout = ""

define ptx_kernel void @"copy_s"(ptr addrspace(1) noalias align 16 %"A", ptr addrspace(1) noalias align 16 %"B")
{
entry:
  %"block" = call i32 @"llvm.nvvm.read.ptx.sreg.ctaid.x"(), !range !2
  %".4" = urem i32 %"block", 3
  %".5" = udiv i32 %"block", 3
  %".6" = zext i32 %".4" to i64
  %".7" = mul nsw i64 %".6", 32768
  %".8" = add nsw i64 0, %".7"
  %".9" = zext i32 %".5" to i64
  %".10" = mul nsw i64 %".9", 256
  %".11" = add nsw i64 %".8", %".10"
  %"a" = getelementptr inbounds i8, ptr addrspace(1) %"A", i64 %".11"
  %".12" = zext i32 %".4" to i64
  %".13" = mul nsw i64 %".12", 256
  %".14" = add nsw i64 0, %".13"
  %".15" = zext i32 %".5" to i64
  %".16" = mul nsw i64 %".15", 49152
  %".17" = add nsw i64 %".14", %".16"
  %"b" = getelementptr inbounds i8, ptr addrspace(1) %"B", i64 %".17"
  %"thread" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.x"(), !range !3
  %".18" = urem i32 %"thread", 16
  %".19" = udiv i32 %"thread", 16
  %".20" = urem i32 %"thread", 16
  %".21" = udiv i32 %"thread", 16
  %".22" = mul nsw i32 %".20", 16
  %".23" = mul nsw i32 %".21", 2048
  %".24" = add nsw i32 %".22", %".23"
  %".25" = zext i32 %".24" to i64
  %".26" = getelementptr inbounds i8, ptr addrspace(1) %"a", i64 %".25"
  %".27" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 512
  %".28" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 1024
  %".29" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 1536
  %"a.1" = load <4 x i32>, ptr addrspace(1) %".26", align 16, !invariant.load !4
  %".30" = extractelement <4 x i32> %"a.1", i32 0
  %".31" = extractelement <4 x i32> %"a.1", i32 1
  %".32" = extractelement <4 x i32> %"a.1", i32 2
  %".33" = extractelement <4 x i32> %"a.1", i32 3
  %"a.2" = load <4 x i32>, ptr addrspace(1) %".27", align 16, !invariant.load !4
  %".34" = extractelement <4 x i32> %"a.2", i32 0
  %".35" = extractelement <4 x i32> %"a.2", i32 1
  %".36" = extractelement <4 x i32> %"a.2", i32 2
  %".37" = extractelement <4 x i32> %"a.2", i32 3
  %"a.3" = load <4 x i32>, ptr addrspace(1) %".28", align 16, !invariant.load !4
  %".38" = extractelement <4 x i32> %"a.3", i32 0
  %".39" = extractelement <4 x i32> %"a.3", i32 1
  %".40" = extractelement <4 x i32> %"a.3", i32 2
  %".41" = extractelement <4 x i32> %"a.3", i32 3
  %"a.4" = load <4 x i32>, ptr addrspace(1) %".29", align 16, !invariant.load !4
  %".42" = extractelement <4 x i32> %"a.4", i32 0
  %".43" = extractelement <4 x i32> %"a.4", i32 1
  %".44" = extractelement <4 x i32> %"a.4", i32 2
  %".45" = extractelement <4 x i32> %"a.4", i32 3
  %".46" = mul nsw i32 %".20", 260
  %".47" = mul nsw i32 %".21", 4
  %".48" = mul nsw i32 %".46", 4
  %".49" = mul nsw i32 %".47", 4
  %".50" = add nsw i32 %".48", %".49"
  %".51" = zext i32 %".50" to i64
  %".52" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".51"
  %".53" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".30", i32 0
  %".54" = insertelement <4 x i32> %".53", i32 %".34", i32 1
  %".55" = insertelement <4 x i32> %".54", i32 %".38", i32 2
  %".56" = insertelement <4 x i32> %".55", i32 %".42", i32 3
  store <4 x i32> %".56", ptr addrspace(3) %".52", align 16
  %".58" = getelementptr inbounds i8, ptr addrspace(3) %".52", i64 256
  %".59" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".31", i32 0
  %".60" = insertelement <4 x i32> %".59", i32 %".35", i32 1
  %".61" = insertelement <4 x i32> %".60", i32 %".39", i32 2
  %".62" = insertelement <4 x i32> %".61", i32 %".43", i32 3
  store <4 x i32> %".62", ptr addrspace(3) %".58", align 16
  %".64" = getelementptr inbounds i8, ptr addrspace(3) %".52", i64 512
  %".65" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".32", i32 0
  %".66" = insertelement <4 x i32> %".65", i32 %".36", i32 1
  %".67" = insertelement <4 x i32> %".66", i32 %".40", i32 2
  %".68" = insertelement <4 x i32> %".67", i32 %".44", i32 3
  store <4 x i32> %".68", ptr addrspace(3) %".64", align 16
  %".70" = getelementptr inbounds i8, ptr addrspace(3) %".52", i64 768
  %".71" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".33", i32 0
  %".72" = insertelement <4 x i32> %".71", i32 %".37", i32 1
  %".73" = insertelement <4 x i32> %".72", i32 %".41", i32 2
  %".74" = insertelement <4 x i32> %".73", i32 %".45", i32 3
  store <4 x i32> %".74", ptr addrspace(3) %".70", align 16
  call void @"llvm.nvvm.barrier0"()
  %".77" = mul nsw i32 %".18", 4
  %".78" = udiv i32 %".19", 4
  %".79" = urem i32 %".19", 4
  %".80" = mul nsw i32 %".78", 260
  %".81" = mul nsw i32 %".79", 64
  %".82" = mul nsw i32 %".77", 4
  %".83" = mul nsw i32 %".80", 4
  %".84" = mul nsw i32 %".81", 4
  %".85" = add nsw i32 %".82", %".83"
  %".86" = add nsw i32 %".85", %".84"
  %".87" = zext i32 %".86" to i64
  %".88" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".87"
  %"s" = load <4 x i32>, ptr addrspace(3) %".88", align 16
  %".89" = extractelement <4 x i32> %"s", i32 0
  %".90" = extractelement <4 x i32> %"s", i32 1
  %".91" = extractelement <4 x i32> %"s", i32 2
  %".92" = extractelement <4 x i32> %"s", i32 3
  %".93" = getelementptr inbounds i8, ptr addrspace(3) %".88", i64 4160
  %"s.1" = load <4 x i32>, ptr addrspace(3) %".93", align 16
  %".94" = extractelement <4 x i32> %"s.1", i32 0
  %".95" = extractelement <4 x i32> %"s.1", i32 1
  %".96" = extractelement <4 x i32> %"s.1", i32 2
  %".97" = extractelement <4 x i32> %"s.1", i32 3
  %".98" = getelementptr inbounds i8, ptr addrspace(3) %".88", i64 8320
  %"s.2" = load <4 x i32>, ptr addrspace(3) %".98", align 16
  %".99" = extractelement <4 x i32> %"s.2", i32 0
  %".100" = extractelement <4 x i32> %"s.2", i32 1
  %".101" = extractelement <4 x i32> %"s.2", i32 2
  %".102" = extractelement <4 x i32> %"s.2", i32 3
  %".103" = getelementptr inbounds i8, ptr addrspace(3) %".88", i64 12480
  %"s.3" = load <4 x i32>, ptr addrspace(3) %".103", align 16
  %".104" = extractelement <4 x i32> %"s.3", i32 0
  %".105" = extractelement <4 x i32> %"s.3", i32 1
  %".106" = extractelement <4 x i32> %"s.3", i32 2
  %".107" = extractelement <4 x i32> %"s.3", i32 3
  %".108" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".89", i32 0
  %".109" = insertelement <4 x i32> %".108", i32 %".90", i32 1
  %".110" = insertelement <4 x i32> %".109", i32 %".91", i32 2
  %".111" = insertelement <4 x i32> %".110", i32 %".92", i32 3
  %".112" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".94", i32 0
  %".113" = insertelement <4 x i32> %".112", i32 %".95", i32 1
  %".114" = insertelement <4 x i32> %".113", i32 %".96", i32 2
  %".115" = insertelement <4 x i32> %".114", i32 %".97", i32 3
  %".116" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".99", i32 0
  %".117" = insertelement <4 x i32> %".116", i32 %".100", i32 1
  %".118" = insertelement <4 x i32> %".117", i32 %".101", i32 2
  %".119" = insertelement <4 x i32> %".118", i32 %".102", i32 3
  %".120" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".104", i32 0
  %".121" = insertelement <4 x i32> %".120", i32 %".105", i32 1
  %".122" = insertelement <4 x i32> %".121", i32 %".106", i32 2
  %".123" = insertelement <4 x i32> %".122", i32 %".107", i32 3
  %".124" = mul nsw i32 %".18", 16
  %".125" = mul nsw i32 %".19", 768
  %".126" = add nsw i32 %".124", %".125"
  %".127" = zext i32 %".126" to i64
  %".128" = getelementptr inbounds i8, ptr addrspace(1) %"b", i64 %".127"
  store <4 x i32> %".111", ptr addrspace(1) %".128", align 16
  %".130" = getelementptr inbounds i8, ptr addrspace(1) %".128", i64 12288
  store <4 x i32> %".115", ptr addrspace(1) %".130", align 16
  %".132" = getelementptr inbounds i8, ptr addrspace(1) %".128", i64 24576
  store <4 x i32> %".119", ptr addrspace(1) %".132", align 16
  %".134" = getelementptr inbounds i8, ptr addrspace(1) %".128", i64 36864
  store <4 x i32> %".123", ptr addrspace(1) %".134", align 16
  ret void
}

declare i32 @"llvm.nvvm.read.ptx.sreg.ctaid.x"()

@"tile" = internal addrspace(3) global [16624 x i8] undef, align 16
declare i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()

declare void @"llvm.nvvm.barrier0"()

!nvvm.annotations = !{ !0, !1 }
!0 = !{ void (ptr addrspace(1), ptr addrspace(1))* @"copy_s", !"maxntidx", i32 256 }
!1 = !{ void (ptr addrspace(1), ptr addrspace(1))* @"copy_s", !"minctasm", i32 5 }
!2 = !{ i32 0, i32 6 }
!3 = !{ i32 0, i32 256 }
!4 = !{  }