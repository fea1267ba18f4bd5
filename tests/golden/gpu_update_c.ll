; ModuleID = "kernel"
target triple = "amdgcn-amd-amdhsa"
target datalayout = ""

define amdgpu_kernel void @"kernel"(ptr addrspace(1) noalias align 16 %"A", ptr addrspace(1) noalias align 16 %"B", float %"alpha", float %"alpha_imag", float %"beta", float %"beta_imag") "amdgpu-flat-work-group-size"="1,64" "uniform-work-group-size"="true"
{
entry:
  %"block" = call i32 @"llvm.amdgcn.workgroup.id.x"(), !range !1
  %".8" = urem i32 %"block", 2
  %".9" = udiv i32 %"block", 2
  %".10" = urem i32 %".9", 2
  %".11" = udiv i32 %".9", 2
  %".12" = urem i32 %".11", 2
  %".13" = udiv i32 %".11", 2
  %".14" = zext i32 %".8" to i64
  %".15" = mul nsw i64 %".14", 8
  %".16" = add nsw i64 0, %".15"
  %".17" = zext i32 %".10" to i64
  %".18" = mul nsw i64 %".17", 0
  %".19" = add nsw i64 %".16", %".18"
  %".20" = zext i32 %".12" to i64
  %".21" = mul nsw i64 %".20", 16
  %".22" = add nsw i64 %".19", %".21"
  %".23" = zext i32 %".13" to i64
  %".24" = mul nsw i64 %".23", 0
  %".25" = add nsw i64 %".22", %".24"
  %".26" = sub i64 20, %".25"
  %".27" = icmp sle i64 %".26", 0
  %".152" = insertelement <4 x float> undef, float %"alpha", i32 0
  %".153" = shufflevector <4 x float> %".152", <4 x float> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".154" = insertelement <4 x float> undef, float %"alpha_imag", i32 0
  %".155" = shufflevector <4 x float> %".154", <4 x float> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".156" = fneg <4 x float> %".155"
  %".157" = shufflevector <4 x float> %".155", <4 x float> %".156", <4 x i32> <i32 0, i32 5, i32 2, i32 7>
  %".158" = fcmp une float %"alpha", 0x3ff0000000000000
  %".159" = fcmp une float %"alpha_imag",              0x0
  %".160" = or i1 %".158", %".159"
  %".161" = sext i1 %".160" to i32
  %".162" = insertelement <4 x i32> undef, i32 %".161", i32 0
  %".163" = shufflevector <4 x i32> %".162", <4 x i32> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".171" = insertelement <4 x float> undef, float %"beta", i32 0
  %".172" = shufflevector <4 x float> %".171", <4 x float> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".173" = insertelement <4 x float> undef, float %"beta_imag", i32 0
  %".174" = shufflevector <4 x float> %".173", <4 x float> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".175" = fneg <4 x float> %".174"
  %".176" = shufflevector <4 x float> %".174", <4 x float> %".175", <4 x i32> <i32 0, i32 5, i32 2, i32 7>
  %".177" = fcmp une float %"beta", 0x3ff0000000000000
  %".178" = fcmp une float %"beta_imag",              0x0
  %".179" = or i1 %".177", %".178"
  %".180" = sext i1 %".179" to i32
  %".181" = insertelement <4 x i32> undef, i32 %".180", i32 0
  %".182" = shufflevector <4 x i32> %".181", <4 x i32> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  br i1 %".27", label %"entry.if", label %"entry.endif"
entry.if:
  ret void
entry.endif:
  %".30" = zext i32 %".8" to i64
  %".31" = mul nsw i64 %".30", 64
  %".32" = add nsw i64 0, %".31"
  %".33" = zext i32 %".10" to i64
  %".34" = mul nsw i64 %".33", 1280
  %".35" = add nsw i64 %".32", %".34"
  %".36" = zext i32 %".12" to i64
  %".37" = mul nsw i64 %".36", 128
  %".38" = add nsw i64 %".35", %".37"
  %".39" = zext i32 %".13" to i64
  %".40" = mul nsw i64 %".39", 2560
  %".41" = add nsw i64 %".38", %".40"
  %"a" = getelementptr inbounds i8, ptr addrspace(1) %"A", i64 %".41"
  %".42" = zext i32 %".8" to i64
  %".43" = mul nsw i64 %".42", 1664
  %".44" = add nsw i64 0, %".43"
  %".45" = zext i32 %".10" to i64
  %".46" = mul nsw i64 %".45", 64
  %".47" = add nsw i64 %".44", %".46"
  %".48" = zext i32 %".12" to i64
  %".49" = mul nsw i64 %".48", 3328
  %".50" = add nsw i64 %".47", %".49"
  %".51" = zext i32 %".13" to i64
  %".52" = mul nsw i64 %".51", 128
  %".53" = add nsw i64 %".50", %".52"
  %"b" = getelementptr inbounds i8, ptr addrspace(1) %"B", i64 %".53"
  %"thread" = call i32 @"llvm.amdgcn.workitem.id.x"(), !range !2
  %".54" = zext i32 %".8" to i64
  %".55" = mul nsw i64 %".54", 0
  %".56" = add nsw i64 0, %".55"
  %".57" = zext i32 %".10" to i64
  %".58" = mul nsw i64 %".57", 8
  %".59" = add nsw i64 %".56", %".58"
  %".60" = zext i32 %".12" to i64
  %".61" = mul nsw i64 %".60", 0
  %".62" = add nsw i64 %".59", %".61"
  %".63" = zext i32 %".13" to i64
  %".64" = mul nsw i64 %".63", 16
  %".65" = add nsw i64 %".62", %".64"
  %".66" = sub i64 26, %".65"
  %".67" = icmp sge i64 %".66", 8
  %".68" = trunc i64 %".66" to i32
  %".69" = select  i1 %".67", i32 8, i32 %".68"
  %".70" = zext i32 %".8" to i64
  %".71" = mul nsw i64 %".70", 8
  %".72" = add nsw i64 0, %".71"
  %".73" = zext i32 %".10" to i64
  %".74" = mul nsw i64 %".73", 0
  %".75" = add nsw i64 %".72", %".74"
  %".76" = zext i32 %".12" to i64
  %".77" = mul nsw i64 %".76", 16
  %".78" = add nsw i64 %".75", %".77"
  %".79" = zext i32 %".13" to i64
  %".80" = mul nsw i64 %".79", 0
  %".81" = add nsw i64 %".78", %".80"
  %".82" = sub i64 20, %".81"
  %".83" = icmp sge i64 %".82", 8
  %".84" = trunc i64 %".82" to i32
  %".85" = select  i1 %".83", i32 8, i32 %".84"
  %".86" = icmp eq i32 %".69", 8
  %".87" = icmp eq i32 %".85", 8
  %".88" = and i1 %".86", %".87"
  br i1 %".88", label %"entry.endif.if", label %"entry.endif.else"
entry.endif.if:
  %".90" = urem i32 %"thread", 4
  %".91" = udiv i32 %"thread", 4
  %".92" = icmp ult i32 %".91", 8
  %".93" = select  i1 %".92", i32 %".91", i32 7
  %".94" = mul nsw i32 %".90", 16
  %".95" = mul nsw i32 %".93", 208
  %".96" = add nsw i32 %".94", %".95"
  %".97" = zext i32 %".96" to i64
  %".98" = getelementptr inbounds i8, ptr addrspace(1) %"b", i64 %".97"
  %"b.1" = load <2 x double>, ptr addrspace(1) %".98", align 16
  %".99" = urem i32 %"thread", 4
  %".100" = udiv i32 %"thread", 4
  %".101" = icmp ult i32 %".100", 4
  %".102" = select  i1 %".101", i32 %".100", i32 3
  %".103" = mul nsw i32 %".99", 16
  %".104" = mul nsw i32 %".102", 320
  %".105" = add nsw i32 %".103", %".104"
  %".106" = zext i32 %".105" to i64
  %".107" = getelementptr inbounds i8, ptr addrspace(1) %"a", i64 %".106"
  %".108" = getelementptr inbounds i8, ptr addrspace(1) %".107", i64 160
  %"a.1" = load <2 x i64>, ptr addrspace(1) %".107", align 16, !invariant.load !3
  %".109" = extractelement <2 x i64> %"a.1", i32 0
  %".110" = extractelement <2 x i64> %"a.1", i32 1
  %"a.2" = load <2 x i64>, ptr addrspace(1) %".108", align 16, !invariant.load !3
  %".111" = extractelement <2 x i64> %"a.2", i32 0
  %".112" = extractelement <2 x i64> %"a.2", i32 1
  %".113" = mul nsw i32 %".99", 18
  %".114" = mul nsw i32 %".102", 2
  %".115" = mul nsw i32 %".113", 8
  %".116" = mul nsw i32 %".114", 8
  %".117" = add nsw i32 %".115", %".116"
  %".118" = zext i32 %".117" to i64
  %".119" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".118"
  %".120" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".109", i32 0
  %".121" = insertelement <2 x i64> %".120", i64 %".111", i32 1
  store <2 x i64> %".121", ptr addrspace(3) %".119", align 16
  %".123" = getelementptr inbounds i8, ptr addrspace(3) %".119", i64 64
  %".124" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".110", i32 0
  %".125" = insertelement <2 x i64> %".124", i64 %".112", i32 1
  store <2 x i64> %".125", ptr addrspace(3) %".123", align 16
  fence syncscope("workgroup") release, !mmra !4
  call void @"llvm.amdgcn.s.barrier"()
  fence syncscope("workgroup") acquire, !mmra !4
  %".130" = mul nsw i32 %".90", 2
  %".131" = udiv i32 %".93", 2
  %".132" = urem i32 %".93", 2
  %".133" = mul nsw i32 %".131", 18
  %".134" = mul nsw i32 %".132", 8
  %".135" = mul nsw i32 %".130", 8
  %".136" = mul nsw i32 %".133", 8
  %".137" = mul nsw i32 %".134", 8
  %".138" = add nsw i32 %".135", %".136"
  %".139" = add nsw i32 %".138", %".137"
  %".140" = zext i32 %".139" to i64
  %".141" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".140"
  %"s" = load <2 x i64>, ptr addrspace(3) %".141", align 16
  %".142" = extractelement <2 x i64> %"s", i32 0
  %".143" = extractelement <2 x i64> %"s", i32 1
  %".144" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".142", i32 0
  %".145" = insertelement <2 x i64> %".144", i64 %".143", i32 1
  %".146" = bitcast <2 x i64> %".145" to <2 x double>
  %".147" = bitcast <2 x double> %".146" to <4 x float>
  %".148" = bitcast <4 x float> %".147" to <4 x i32>
  %".149" = xor <4 x i32> %".148", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".150" = bitcast <4 x i32> %".149" to <2 x double>
  %".151" = bitcast <2 x double> %".150" to <4 x float>
  %".164" = fmul <4 x float> %".151", %".153"
  %".165" = shufflevector <4 x float> %".151", <4 x float> undef, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".166" = icmp ne <4 x i32> %".163", <i32 0, i32 0, i32 0, i32 0>
  %".167" = fmul <4 x float> %".165", %".157"
  %".168" = select  <4 x i1> %".166", <4 x float> %".167", <4 x float> <float 0.0, float 0.0, float 0.0, float 0.0>
  %".169" = fsub <4 x float> %".164", %".168"
  %".170" = bitcast <2 x double> %"b.1" to <4 x float>
  %".183" = fmul <4 x float> %".170", %".172"
  %".184" = shufflevector <4 x float> %".170", <4 x float> undef, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".185" = icmp ne <4 x i32> %".182", <i32 0, i32 0, i32 0, i32 0>
  %".186" = fmul <4 x float> %".184", %".176"
  %".187" = select  <4 x i1> %".185", <4 x float> %".186", <4 x float> <float 0.0, float 0.0, float 0.0, float 0.0>
  %".188" = fsub <4 x float> %".183", %".187"
  %".189" = fadd <4 x float> %".169", %".188"
  %".190" = bitcast <4 x float> %".189" to <2 x double>
  %".191" = icmp ult i32 %"thread", 32
  %".192" = bitcast <2 x double> %".190" to <4 x i32>
  %".193" = extractelement <4 x i32> %".192", i32 0
  %".194" = extractelement <4 x i32> %".192", i32 1
  %".195" = extractelement <4 x i32> %".192", i32 2
  %".196" = extractelement <4 x i32> %".192", i32 3
  call void asm sideeffect "", "v,v,v,v"(i32 %".193", i32 %".194", i32 %".195", i32 %".196")
  br i1 %".191", label %"store.then", label %"store.end"
entry.endif.else:
  %".202" = udiv i32 %".69", 2
  %".203" = udiv i32 %".85", 1
  %".204" = urem i32 %"thread", 4
  %".205" = udiv i32 %"thread", 4
  %".206" = icmp ult i32 %".205", 8
  %".207" = select  i1 %".206", i32 %".205", i32 7
  %".208" = sub nsw nuw i32 %".202", 1
  %".209" = icmp ult i32 %".204", %".208"
  %".210" = select  i1 %".209", i32 %".204", i32 %".208"
  %".211" = mul nsw i32 %".210", 16
  %".212" = sub nsw nuw i32 %".203", 1
  %".213" = icmp ult i32 %".207", %".212"
  %".214" = select  i1 %".213", i32 %".207", i32 %".212"
  %".215" = mul nsw i32 %".214", 208
  %".216" = add nsw i32 %".211", %".215"
  %".217" = zext i32 %".216" to i64
  %".218" = getelementptr inbounds i8, ptr addrspace(1) %"b", i64 %".217"
  %"b.2" = load <2 x double>, ptr addrspace(1) %".218", align 16
  %".219" = udiv i32 %".85", 2
  %".220" = udiv i32 %".69", 2
  %".221" = urem i32 %"thread", 4
  %".222" = udiv i32 %"thread", 4
  %".223" = icmp ult i32 %".222", 4
  %".224" = select  i1 %".223", i32 %".222", i32 3
  %".225" = sub nsw nuw i32 %".219", 1
  %".226" = icmp ult i32 %".221", %".225"
  %".227" = select  i1 %".226", i32 %".221", i32 %".225"
  %".228" = mul nsw i32 %".227", 16
  %".229" = sub nsw nuw i32 %".220", 1
  %".230" = icmp ult i32 %".224", %".229"
  %".231" = select  i1 %".230", i32 %".224", i32 %".229"
  %".232" = mul nsw i32 %".231", 320
  %".233" = add nsw i32 %".228", %".232"
  %".234" = zext i32 %".233" to i64
  %".235" = getelementptr inbounds i8, ptr addrspace(1) %"a", i64 %".234"
  %".236" = getelementptr inbounds i8, ptr addrspace(1) %".235", i64 160
  %"a.3" = load <2 x i64>, ptr addrspace(1) %".235", align 16, !invariant.load !3
  %".237" = extractelement <2 x i64> %"a.3", i32 0
  %".238" = extractelement <2 x i64> %"a.3", i32 1
  %"a.4" = load <2 x i64>, ptr addrspace(1) %".236", align 16, !invariant.load !3
  %".239" = extractelement <2 x i64> %"a.4", i32 0
  %".240" = extractelement <2 x i64> %"a.4", i32 1
  %".241" = mul nsw i32 %".221", 18
  %".242" = mul nsw i32 %".224", 2
  %".243" = mul nsw i32 %".241", 8
  %".244" = mul nsw i32 %".242", 8
  %".245" = add nsw i32 %".243", %".244"
  %".246" = zext i32 %".245" to i64
  %".247" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".246"
  %".248" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".237", i32 0
  %".249" = insertelement <2 x i64> %".248", i64 %".239", i32 1
  store <2 x i64> %".249", ptr addrspace(3) %".247", align 16
  %".251" = getelementptr inbounds i8, ptr addrspace(3) %".247", i64 64
  %".252" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".238", i32 0
  %".253" = insertelement <2 x i64> %".252", i64 %".240", i32 1
  store <2 x i64> %".253", ptr addrspace(3) %".251", align 16
  fence syncscope("workgroup") release, !mmra !4
  call void @"llvm.amdgcn.s.barrier"()
  fence syncscope("workgroup") acquire, !mmra !4
  %".258" = mul nsw i32 %".204", 2
  %".259" = udiv i32 %".207", 2
  %".260" = urem i32 %".207", 2
  %".261" = mul nsw i32 %".259", 18
  %".262" = mul nsw i32 %".260", 8
  %".263" = mul nsw i32 %".258", 8
  %".264" = mul nsw i32 %".261", 8
  %".265" = mul nsw i32 %".262", 8
  %".266" = add nsw i32 %".263", %".264"
  %".267" = add nsw i32 %".266", %".265"
  %".268" = zext i32 %".267" to i64
  %".269" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".268"
  %"s.1" = load <2 x i64>, ptr addrspace(3) %".269", align 16
  %".270" = extractelement <2 x i64> %"s.1", i32 0
  %".271" = extractelement <2 x i64> %"s.1", i32 1
  %".272" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".270", i32 0
  %".273" = insertelement <2 x i64> %".272", i64 %".271", i32 1
  %".274" = bitcast <2 x i64> %".273" to <2 x double>
  %".275" = bitcast <2 x double> %".274" to <4 x float>
  %".276" = bitcast <4 x float> %".275" to <4 x i32>
  %".277" = xor <4 x i32> %".276", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".278" = bitcast <4 x i32> %".277" to <2 x double>
  %".279" = bitcast <2 x double> %".278" to <4 x float>
  %".280" = fmul <4 x float> %".279", %".153"
  %".281" = shufflevector <4 x float> %".279", <4 x float> undef, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".282" = icmp ne <4 x i32> %".163", <i32 0, i32 0, i32 0, i32 0>
  %".283" = fmul <4 x float> %".281", %".157"
  %".284" = select  <4 x i1> %".282", <4 x float> %".283", <4 x float> <float 0.0, float 0.0, float 0.0, float 0.0>
  %".285" = fsub <4 x float> %".280", %".284"
  %".286" = bitcast <2 x double> %"b.2" to <4 x float>
  %".287" = fmul <4 x float> %".286", %".172"
  %".288" = shufflevector <4 x float> %".286", <4 x float> undef, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".289" = icmp ne <4 x i32> %".182", <i32 0, i32 0, i32 0, i32 0>
  %".290" = fmul <4 x float> %".288", %".176"
  %".291" = select  <4 x i1> %".289", <4 x float> %".290", <4 x float> <float 0.0, float 0.0, float 0.0, float 0.0>
  %".292" = fsub <4 x float> %".287", %".291"
  %".293" = fadd <4 x float> %".285", %".292"
  %".294" = bitcast <4 x float> %".293" to <2 x double>
  %".295" = sub nsw i32 %".202", %".204"
  %".296" = sub nsw i32 %".203", %".207"
  %".297" = icmp ult i32 %"thread", 32
  %".298" = select  i1 %".297", i32 %".296", i32 0
  %".299" = icmp sgt i32 %".298", 0
  %".300" = select  i1 %".299", i32 %".295", i32 0
  %".301" = icmp sgt i32 %".300", 0
  %".302" = bitcast <2 x double> %".294" to <4 x i32>
  %".303" = extractelement <4 x i32> %".302", i32 0
  %".304" = extractelement <4 x i32> %".302", i32 1
  %".305" = extractelement <4 x i32> %".302", i32 2
  %".306" = extractelement <4 x i32> %".302", i32 3
  call void asm sideeffect "", "v,v,v,v"(i32 %".303", i32 %".304", i32 %".305", i32 %".306")
  %".308" = mul nsw i32 %".204", 16
  %".309" = mul nsw i32 %".207", 208
  %".310" = add nsw i32 %".308", %".309"
  %".311" = zext i32 %".310" to i64
  %".312" = getelementptr inbounds i8, ptr addrspace(1) %"b", i64 %".311"
  br i1 %".301", label %"store.then.1", label %"store.end.1"
entry.endif.endif:
  ret void
store.then:
  store <2 x double> %".190", ptr addrspace(1) %".98", align 16
  br label %"store.end"
store.end:
  br label %"entry.endif.endif"
store.then.1:
  store <2 x double> %".294", ptr addrspace(1) %".312", align 16
  br label %"store.end.1"
store.end.1:
  br label %"entry.endif.endif"
}

declare i32 @"llvm.amdgcn.workgroup.id.x"()

@"tile" = internal addrspace(3) global [560 x i8] undef, align 16
declare i32 @"llvm.amdgcn.workitem.id.x"()

declare void @"llvm.amdgcn.s.barrier"()

!llvm.module.flags = !{ !0 }
!0 = !{ i32 1, !"amdhsa_code_object_version", i32 500 }
!1 = !{ i32 0, i32 16 }
!2 = !{ i32 0, i32 64 }
!3 = !{  }
!4 = !{ !"amdgpu-synchronize-as", !"local" }