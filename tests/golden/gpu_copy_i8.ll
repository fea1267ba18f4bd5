; ModuleID = "copy_i8"
target triple = "nvptx64-nvidia-cuda"
target datalayout = ""

define ptx_kernel void @"copy_i8"(ptr addrspace(1) noalias align 16 %"A", ptr addrspace(1) noalias align 16 %"B")
{
entry:
  %"block" = call i32 @"llvm.nvvm.read.ptx.sreg.ctaid.x"(), !range !2
  %".4" = urem i32 %"block", 3
  %".5" = udiv i32 %"block", 3
  %".6" = zext i32 %".4" to i64
  %".7" = mul nsw i64 %".6", 32768
  %".8" = add nsw i64 0, %".7"
  %".9" = zext i32 %".5" to i64
  %".10" = mul nsw i64 %".9", 128
  %".11" = add nsw i64 %".8", %".10"
  %"a" = getelementptr inbounds i8, ptr addrspace(1) %"A", i64 %".11"
  %".12" = zext i32 %".4" to i64
  %".13" = mul nsw i64 %".12", 128
  %".14" = add nsw i64 0, %".13"
  %".15" = zext i32 %".5" to i64
  %".16" = mul nsw i64 %".15", 49152
  %".17" = add nsw i64 %".14", %".16"
  %"b" = getelementptr inbounds i8, ptr addrspace(1) %"B", i64 %".17"
  %"thread" = call i32 @"llvm.nvvm.read.ptx.sreg.tid.x"(), !range !3
  %".18" = urem i32 %"thread", 8
  %".19" = udiv i32 %"thread", 8
  %".20" = urem i32 %"thread", 8
  %".21" = udiv i32 %"thread", 8
  %".22" = mul nsw i32 %".20", 16
  %".23" = mul nsw i32 %".21", 1024
  %".24" = add nsw i32 %".22", %".23"
  %".25" = zext i32 %".24" to i64
  %".26" = getelementptr inbounds i8, ptr addrspace(1) %"a", i64 %".25"
  %".27" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 256
  %".28" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 512
  %".29" = getelementptr inbounds i8, ptr addrspace(1) %".26", i64 768
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
  %".46" = bitcast i32 %".30" to <4 x i8>
  %".47" = bitcast i32 %".31" to <4 x i8>
  %".48" = bitcast i32 %".32" to <4 x i8>
  %".49" = bitcast i32 %".33" to <4 x i8>
  %".50" = bitcast i32 %".34" to <4 x i8>
  %".51" = bitcast i32 %".35" to <4 x i8>
  %".52" = bitcast i32 %".36" to <4 x i8>
  %".53" = bitcast i32 %".37" to <4 x i8>
  %".54" = bitcast i32 %".38" to <4 x i8>
  %".55" = bitcast i32 %".39" to <4 x i8>
  %".56" = bitcast i32 %".40" to <4 x i8>
  %".57" = bitcast i32 %".41" to <4 x i8>
  %".58" = bitcast i32 %".42" to <4 x i8>
  %".59" = bitcast i32 %".43" to <4 x i8>
  %".60" = bitcast i32 %".44" to <4 x i8>
  %".61" = bitcast i32 %".45" to <4 x i8>
  %".62" = shufflevector <4 x i8> %".46", <4 x i8> %".50", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".63" = shufflevector <4 x i8> %".46", <4 x i8> %".50", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".64" = shufflevector <4 x i8> %".47", <4 x i8> %".51", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".65" = shufflevector <4 x i8> %".47", <4 x i8> %".51", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".66" = shufflevector <4 x i8> %".48", <4 x i8> %".52", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".67" = shufflevector <4 x i8> %".48", <4 x i8> %".52", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".68" = shufflevector <4 x i8> %".49", <4 x i8> %".53", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".69" = shufflevector <4 x i8> %".49", <4 x i8> %".53", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".70" = shufflevector <4 x i8> %".54", <4 x i8> %".58", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".71" = shufflevector <4 x i8> %".54", <4 x i8> %".58", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".72" = shufflevector <4 x i8> %".55", <4 x i8> %".59", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".73" = shufflevector <4 x i8> %".55", <4 x i8> %".59", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".74" = shufflevector <4 x i8> %".56", <4 x i8> %".60", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".75" = shufflevector <4 x i8> %".56", <4 x i8> %".60", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".76" = shufflevector <4 x i8> %".57", <4 x i8> %".61", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".77" = shufflevector <4 x i8> %".57", <4 x i8> %".61", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".78" = shufflevector <4 x i8> %".62", <4 x i8> %".70", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".79" = shufflevector <4 x i8> %".62", <4 x i8> %".70", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %".80" = shufflevector <4 x i8> %".63", <4 x i8> %".71", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".81" = shufflevector <4 x i8> %".63", <4 x i8> %".71", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %".82" = shufflevector <4 x i8> %".64", <4 x i8> %".72", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".83" = shufflevector <4 x i8> %".64", <4 x i8> %".72", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %".84" = shufflevector <4 x i8> %".65", <4 x i8> %".73", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".85" = shufflevector <4 x i8> %".65", <4 x i8> %".73", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %".86" = shufflevector <4 x i8> %".66", <4 x i8> %".74", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".87" = shufflevector <4 x i8> %".66", <4 x i8> %".74", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %".88" = shufflevector <4 x i8> %".67", <4 x i8> %".75", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".89" = shufflevector <4 x i8> %".67", <4 x i8> %".75", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %".90" = shufflevector <4 x i8> %".68", <4 x i8> %".76", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".91" = shufflevector <4 x i8> %".68", <4 x i8> %".76", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %".92" = shufflevector <4 x i8> %".69", <4 x i8> %".77", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".93" = shufflevector <4 x i8> %".69", <4 x i8> %".77", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  %".94" = bitcast <4 x i8> %".78" to i32
  %".95" = bitcast <4 x i8> %".79" to i32
  %".96" = bitcast <4 x i8> %".80" to i32
  %".97" = bitcast <4 x i8> %".81" to i32
  %".98" = bitcast <4 x i8> %".82" to i32
  %".99" = bitcast <4 x i8> %".83" to i32
  %".100" = bitcast <4 x i8> %".84" to i32
  %".101" = bitcast <4 x i8> %".85" to i32
  %".102" = bitcast <4 x i8> %".86" to i32
  %".103" = bitcast <4 x i8> %".87" to i32
  %".104" = bitcast <4 x i8> %".88" to i32
  %".105" = bitcast <4 x i8> %".89" to i32
  %".106" = bitcast <4 x i8> %".90" to i32
  %".107" = bitcast <4 x i8> %".91" to i32
  %".108" = bitcast <4 x i8> %".92" to i32
  %".109" = bitcast <4 x i8> %".93" to i32
  %".110" = mul nsw i32 %".20", 2064
  %".111" = mul nsw i32 %".21", 4
  %".112" = add nsw i32 %".110", %".111"
  %".113" = zext i32 %".112" to i64
  %".114" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".113"
  store i32 %".94", ptr addrspace(3) %".114", align 4
  %".116" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 128
  store i32 %".95", ptr addrspace(3) %".116", align 4
  %".118" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 256
  store i32 %".96", ptr addrspace(3) %".118", align 4
  %".120" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 384
  store i32 %".97", ptr addrspace(3) %".120", align 4
  %".122" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 512
  store i32 %".98", ptr addrspace(3) %".122", align 4
  %".124" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 640
  store i32 %".99", ptr addrspace(3) %".124", align 4
  %".126" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 768
  store i32 %".100", ptr addrspace(3) %".126", align 4
  %".128" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 896
  store i32 %".101", ptr addrspace(3) %".128", align 4
  %".130" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 1024
  store i32 %".102", ptr addrspace(3) %".130", align 4
  %".132" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 1152
  store i32 %".103", ptr addrspace(3) %".132", align 4
  %".134" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 1280
  store i32 %".104", ptr addrspace(3) %".134", align 4
  %".136" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 1408
  store i32 %".105", ptr addrspace(3) %".136", align 4
  %".138" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 1536
  store i32 %".106", ptr addrspace(3) %".138", align 4
  %".140" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 1664
  store i32 %".107", ptr addrspace(3) %".140", align 4
  %".142" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 1792
  store i32 %".108", ptr addrspace(3) %".142", align 4
  %".144" = getelementptr inbounds i8, ptr addrspace(3) %".114", i64 1920
  store i32 %".109", ptr addrspace(3) %".144", align 4
  call void @"llvm.nvvm.barrier0"()
  %".147" = mul nsw i32 %".18", 16
  %".148" = udiv i32 %".19", 16
  %".149" = urem i32 %".19", 16
  %".150" = mul nsw i32 %".148", 2064
  %".151" = mul nsw i32 %".149", 128
  %".152" = add nsw i32 %".147", %".150"
  %".153" = add nsw i32 %".152", %".151"
  %".154" = zext i32 %".153" to i64
  %".155" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".154"
  %"s" = load <4 x i32>, ptr addrspace(3) %".155", align 16
  %".156" = extractelement <4 x i32> %"s", i32 0
  %".157" = extractelement <4 x i32> %"s", i32 1
  %".158" = extractelement <4 x i32> %"s", i32 2
  %".159" = extractelement <4 x i32> %"s", i32 3
  %".160" = getelementptr inbounds i8, ptr addrspace(3) %".155", i64 4128
  %"s.1" = load <4 x i32>, ptr addrspace(3) %".160", align 16
  %".161" = extractelement <4 x i32> %"s.1", i32 0
  %".162" = extractelement <4 x i32> %"s.1", i32 1
  %".163" = extractelement <4 x i32> %"s.1", i32 2
  %".164" = extractelement <4 x i32> %"s.1", i32 3
  %".165" = getelementptr inbounds i8, ptr addrspace(3) %".155", i64 8256
  %"s.2" = load <4 x i32>, ptr addrspace(3) %".165", align 16
  %".166" = extractelement <4 x i32> %"s.2", i32 0
  %".167" = extractelement <4 x i32> %"s.2", i32 1
  %".168" = extractelement <4 x i32> %"s.2", i32 2
  %".169" = extractelement <4 x i32> %"s.2", i32 3
  %".170" = getelementptr inbounds i8, ptr addrspace(3) %".155", i64 12384
  %"s.3" = load <4 x i32>, ptr addrspace(3) %".170", align 16
  %".171" = extractelement <4 x i32> %"s.3", i32 0
  %".172" = extractelement <4 x i32> %"s.3", i32 1
  %".173" = extractelement <4 x i32> %"s.3", i32 2
  %".174" = extractelement <4 x i32> %"s.3", i32 3
  %".175" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".156", i32 0
  %".176" = insertelement <4 x i32> %".175", i32 %".157", i32 1
  %".177" = insertelement <4 x i32> %".176", i32 %".158", i32 2
  %".178" = insertelement <4 x i32> %".177", i32 %".159", i32 3
  %".179" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".161", i32 0
  %".180" = insertelement <4 x i32> %".179", i32 %".162", i32 1
  %".181" = insertelement <4 x i32> %".180", i32 %".163", i32 2
  %".182" = insertelement <4 x i32> %".181", i32 %".164", i32 3
  %".183" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".166", i32 0
  %".184" = insertelement <4 x i32> %".183", i32 %".167", i32 1
  %".185" = insertelement <4 x i32> %".184", i32 %".168", i32 2
  %".186" = insertelement <4 x i32> %".185", i32 %".169", i32 3
  %".187" = insertelement <4 x i32> <i32 undef, i32 undef, i32 undef, i32 undef>, i32 %".171", i32 0
  %".188" = insertelement <4 x i32> %".187", i32 %".172", i32 1
  %".189" = insertelement <4 x i32> %".188", i32 %".173", i32 2
  %".190" = insertelement <4 x i32> %".189", i32 %".174", i32 3
  %".191" = mul nsw i32 %".19", 384
  %".192" = add nsw i32 %".147", %".191"
  %".193" = zext i32 %".192" to i64
  %".194" = getelementptr inbounds i8, ptr addrspace(1) %"b", i64 %".193"
  store <4 x i32> %".178", ptr addrspace(1) %".194", align 16
  %".196" = getelementptr inbounds i8, ptr addrspace(1) %".194", i64 12288
  store <4 x i32> %".182", ptr addrspace(1) %".196", align 16
  %".198" = getelementptr inbounds i8, ptr addrspace(1) %".194", i64 24576
  store <4 x i32> %".186", ptr addrspace(1) %".198", align 16
  %".200" = getelementptr inbounds i8, ptr addrspace(1) %".194", i64 36864
  store <4 x i32> %".190", ptr addrspace(1) %".200", align 16
  ret void
}

declare i32 @"llvm.nvvm.read.ptx.sreg.ctaid.x"()

@"tile" = internal addrspace(3) global [16496 x i8] undef, align 16
declare i32 @"llvm.nvvm.read.ptx.sreg.tid.x"()

declare void @"llvm.nvvm.barrier0"()

!nvvm.annotations = !{ !0, !1 }
!0 = !{ void (ptr addrspace(1), ptr addrspace(1))* @"copy_i8", !"maxntidx", i32 256 }
!1 = !{ void (ptr addrspace(1), ptr addrspace(1))* @"copy_i8", !"minctasm", i32 5 }
!2 = !{ i32 0, i32 6 }
!3 = !{ i32 0, i32 256 }
!4 = !{  }