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
  %".152" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"alpha", i32 0
  %".153" = shufflevector <4 x float> %".152", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".154" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"alpha_imag", i32 0
  %".155" = shufflevector <4 x float> %".154", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".156" = fneg <4 x float> %".155"
  %".157" = shufflevector <4 x float> %".155", <4 x float> %".156", <4 x i32> <i32 4, i32 1, i32 6, i32 3>
  %".163" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"beta", i32 0
  %".164" = shufflevector <4 x float> %".163", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".165" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"beta_imag", i32 0
  %".166" = shufflevector <4 x float> %".165", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".167" = fneg <4 x float> %".166"
  %".168" = shufflevector <4 x float> %".166", <4 x float> %".167", <4 x i32> <i32 4, i32 1, i32 6, i32 3>
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
  fence syncscope("workgroup") release
  call void @"llvm.amdgcn.s.barrier"()
  fence syncscope("workgroup") acquire
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
  %".158" = fmul <4 x float> %".151", %".153"
  %".159" = shufflevector <4 x float> %".151", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".160" = fmul <4 x float> %".159", %".157"
  %".161" = fadd <4 x float> %".158", %".160"
  %".162" = bitcast <2 x double> %"b.1" to <4 x float>
  %".169" = fmul <4 x float> %".162", %".164"
  %".170" = shufflevector <4 x float> %".162", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".171" = fmul <4 x float> %".170", %".168"
  %".172" = fadd <4 x float> %".169", %".171"
  %".173" = fadd <4 x float> %".161", %".172"
  %".174" = bitcast <4 x float> %".173" to <2 x double>
  %".175" = icmp ult i32 %"thread", 32
  br i1 %".175", label %"store.then", label %"store.end"
entry.endif.else:
  %".180" = udiv i32 %".69", 2
  %".181" = udiv i32 %".85", 1
  %".182" = urem i32 %"thread", 4
  %".183" = udiv i32 %"thread", 4
  %".184" = icmp ult i32 %".183", 8
  %".185" = select  i1 %".184", i32 %".183", i32 7
  %".186" = sub nsw nuw i32 %".180", 1
  %".187" = icmp ult i32 %".182", %".186"
  %".188" = select  i1 %".187", i32 %".182", i32 %".186"
  %".189" = mul nsw i32 %".188", 16
  %".190" = sub nsw nuw i32 %".181", 1
  %".191" = icmp ult i32 %".185", %".190"
  %".192" = select  i1 %".191", i32 %".185", i32 %".190"
  %".193" = mul nsw i32 %".192", 208
  %".194" = add nsw i32 %".189", %".193"
  %".195" = zext i32 %".194" to i64
  %".196" = getelementptr inbounds i8, ptr addrspace(1) %"b", i64 %".195"
  %"b.2" = load <2 x double>, ptr addrspace(1) %".196", align 16
  %".197" = udiv i32 %".85", 2
  %".198" = udiv i32 %".69", 2
  %".199" = urem i32 %"thread", 4
  %".200" = udiv i32 %"thread", 4
  %".201" = icmp ult i32 %".200", 4
  %".202" = select  i1 %".201", i32 %".200", i32 3
  %".203" = sub nsw nuw i32 %".197", 1
  %".204" = icmp ult i32 %".199", %".203"
  %".205" = select  i1 %".204", i32 %".199", i32 %".203"
  %".206" = mul nsw i32 %".205", 16
  %".207" = sub nsw nuw i32 %".198", 1
  %".208" = icmp ult i32 %".202", %".207"
  %".209" = select  i1 %".208", i32 %".202", i32 %".207"
  %".210" = mul nsw i32 %".209", 320
  %".211" = add nsw i32 %".206", %".210"
  %".212" = zext i32 %".211" to i64
  %".213" = getelementptr inbounds i8, ptr addrspace(1) %"a", i64 %".212"
  %".214" = getelementptr inbounds i8, ptr addrspace(1) %".213", i64 160
  %"a.3" = load <2 x i64>, ptr addrspace(1) %".213", align 16, !invariant.load !3
  %".215" = extractelement <2 x i64> %"a.3", i32 0
  %".216" = extractelement <2 x i64> %"a.3", i32 1
  %"a.4" = load <2 x i64>, ptr addrspace(1) %".214", align 16, !invariant.load !3
  %".217" = extractelement <2 x i64> %"a.4", i32 0
  %".218" = extractelement <2 x i64> %"a.4", i32 1
  %".219" = mul nsw i32 %".199", 18
  %".220" = mul nsw i32 %".202", 2
  %".221" = mul nsw i32 %".219", 8
  %".222" = mul nsw i32 %".220", 8
  %".223" = add nsw i32 %".221", %".222"
  %".224" = zext i32 %".223" to i64
  %".225" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".224"
  %".226" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".215", i32 0
  %".227" = insertelement <2 x i64> %".226", i64 %".217", i32 1
  store <2 x i64> %".227", ptr addrspace(3) %".225", align 16
  %".229" = getelementptr inbounds i8, ptr addrspace(3) %".225", i64 64
  %".230" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".216", i32 0
  %".231" = insertelement <2 x i64> %".230", i64 %".218", i32 1
  store <2 x i64> %".231", ptr addrspace(3) %".229", align 16
  fence syncscope("workgroup") release
  call void @"llvm.amdgcn.s.barrier"()
  fence syncscope("workgroup") acquire
  %".236" = mul nsw i32 %".182", 2
  %".237" = udiv i32 %".185", 2
  %".238" = urem i32 %".185", 2
  %".239" = mul nsw i32 %".237", 18
  %".240" = mul nsw i32 %".238", 8
  %".241" = mul nsw i32 %".236", 8
  %".242" = mul nsw i32 %".239", 8
  %".243" = mul nsw i32 %".240", 8
  %".244" = add nsw i32 %".241", %".242"
  %".245" = add nsw i32 %".244", %".243"
  %".246" = zext i32 %".245" to i64
  %".247" = getelementptr inbounds i8, ptr addrspace(3) @"tile", i64 %".246"
  %"s.1" = load <2 x i64>, ptr addrspace(3) %".247", align 16
  %".248" = extractelement <2 x i64> %"s.1", i32 0
  %".249" = extractelement <2 x i64> %"s.1", i32 1
  %".250" = insertelement <2 x i64> <i64 undef, i64 undef>, i64 %".248", i32 0
  %".251" = insertelement <2 x i64> %".250", i64 %".249", i32 1
  %".252" = bitcast <2 x i64> %".251" to <2 x double>
  %".253" = bitcast <2 x double> %".252" to <4 x float>
  %".254" = bitcast <4 x float> %".253" to <4 x i32>
  %".255" = xor <4 x i32> %".254", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".256" = bitcast <4 x i32> %".255" to <2 x double>
  %".257" = bitcast <2 x double> %".256" to <4 x float>
  %".258" = fmul <4 x float> %".257", %".153"
  %".259" = shufflevector <4 x float> %".257", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".260" = fmul <4 x float> %".259", %".157"
  %".261" = fadd <4 x float> %".258", %".260"
  %".262" = bitcast <2 x double> %"b.2" to <4 x float>
  %".263" = fmul <4 x float> %".262", %".164"
  %".264" = shufflevector <4 x float> %".262", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".265" = fmul <4 x float> %".264", %".168"
  %".266" = fadd <4 x float> %".263", %".265"
  %".267" = fadd <4 x float> %".261", %".266"
  %".268" = bitcast <4 x float> %".267" to <2 x double>
  %".269" = mul nsw i32 %".182", 16
  %".270" = mul nsw i32 %".185", 208
  %".271" = add nsw i32 %".269", %".270"
  %".272" = zext i32 %".271" to i64
  %".273" = getelementptr inbounds i8, ptr addrspace(1) %"b", i64 %".272"
  %".274" = sub nsw i32 %".180", %".182"
  %".275" = sub nsw i32 %".181", %".185"
  %".276" = icmp ult i32 %"thread", 32
  %".277" = select  i1 %".276", i32 %".275", i32 0
  %".278" = icmp sgt i32 %".277", 0
  %".279" = select  i1 %".278", i32 %".274", i32 0
  %".280" = icmp sgt i32 %".279", 0
  br i1 %".280", label %"store.then.1", label %"store.end.1"
entry.endif.endif:
  ret void
store.then:
  store <2 x double> %".174", ptr addrspace(1) %".98", align 16
  br label %"store.end"
store.end:
  br label %"entry.endif.endif"
store.then.1:
  store <2 x double> %".268", ptr addrspace(1) %".273", align 16
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