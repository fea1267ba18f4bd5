; ModuleID = "ttc_llvm"
target triple = "x86_64-unknown-linux-gnu"
target datalayout = ""

define void @"kernel"(ptr noalias %"a", ptr noalias %"b", ptr %"scalars", ptr %"params", ptr noalias %"scratch", i64 %"begin", i64 %"end") nounwind
{
entry:
  %"alpha0" = load float, ptr %"scalars", align 4
  %".9" = getelementptr inbounds i8, ptr %"scalars", i64 4
  %"alpha1" = load float, ptr %".9", align 4
  %".10" = getelementptr inbounds i8, ptr %"scalars", i64 8
  %"beta0" = load float, ptr %".10", align 4
  %".11" = getelementptr inbounds i8, ptr %"scalars", i64 12
  %"beta1" = load float, ptr %".11", align 4
  %".59" = insertelement <4 x float> undef, float %"alpha0", i32 0
  %".60" = shufflevector <4 x float> %".59", <4 x float> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".61" = insertelement <4 x float> undef, float %"alpha1", i32 0
  %".62" = shufflevector <4 x float> %".61", <4 x float> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".63" = fneg <4 x float> %".62"
  %".64" = shufflevector <4 x float> %".62", <4 x float> %".63", <4 x i32> <i32 0, i32 5, i32 2, i32 7>
  %".65" = fcmp une float %"alpha0", 0x3ff0000000000000
  %".66" = fcmp une float %"alpha1",              0x0
  %".67" = or i1 %".65", %".66"
  %".68" = sext i1 %".67" to i32
  %".69" = insertelement <4 x i32> undef, i32 %".68", i32 0
  %".70" = shufflevector <4 x i32> %".69", <4 x i32> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".78" = insertelement <4 x float> undef, float %"beta0", i32 0
  %".79" = shufflevector <4 x float> %".78", <4 x float> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".80" = insertelement <4 x float> undef, float %"beta1", i32 0
  %".81" = shufflevector <4 x float> %".80", <4 x float> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".82" = fneg <4 x float> %".81"
  %".83" = shufflevector <4 x float> %".81", <4 x float> %".82", <4 x i32> <i32 0, i32 5, i32 2, i32 7>
  %".84" = fcmp une float %"beta0", 0x3ff0000000000000
  %".85" = fcmp une float %"beta1",              0x0
  %".86" = or i1 %".84", %".85"
  %".87" = sext i1 %".86" to i32
  %".88" = insertelement <4 x i32> undef, i32 %".87", i32 0
  %".89" = shufflevector <4 x i32> %".88", <4 x i32> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".139" = insertelement <2 x float> undef, float %"alpha0", i32 0
  %".140" = shufflevector <2 x float> %".139", <2 x float> undef, <2 x i32> <i32 0, i32 0>
  %".141" = insertelement <2 x float> undef, float %"alpha1", i32 0
  %".142" = shufflevector <2 x float> %".141", <2 x float> undef, <2 x i32> <i32 0, i32 0>
  %".143" = fneg <2 x float> %".142"
  %".144" = shufflevector <2 x float> %".142", <2 x float> %".143", <2 x i32> <i32 0, i32 3>
  %".145" = fcmp une float %"alpha0", 0x3ff0000000000000
  %".146" = fcmp une float %"alpha1",              0x0
  %".147" = or i1 %".145", %".146"
  %".148" = sext i1 %".147" to i32
  %".149" = insertelement <2 x i32> undef, i32 %".148", i32 0
  %".150" = shufflevector <2 x i32> %".149", <2 x i32> undef, <2 x i32> <i32 0, i32 0>
  %".158" = insertelement <2 x float> undef, float %"beta0", i32 0
  %".159" = shufflevector <2 x float> %".158", <2 x float> undef, <2 x i32> <i32 0, i32 0>
  %".160" = insertelement <2 x float> undef, float %"beta1", i32 0
  %".161" = shufflevector <2 x float> %".160", <2 x float> undef, <2 x i32> <i32 0, i32 0>
  %".162" = fneg <2 x float> %".161"
  %".163" = shufflevector <2 x float> %".161", <2 x float> %".162", <2 x i32> <i32 0, i32 3>
  %".164" = fcmp une float %"beta0", 0x3ff0000000000000
  %".165" = fcmp une float %"beta1",              0x0
  %".166" = or i1 %".164", %".165"
  %".167" = sext i1 %".166" to i32
  %".168" = insertelement <2 x i32> undef, i32 %".167", i32 0
  %".169" = shufflevector <2 x i32> %".168", <2 x i32> undef, <2 x i32> <i32 0, i32 0>
  br label %"task.head"
task.head:
  %"task" = phi  i64 [%"begin", %"entry"], [%"task.next", %"i1.done"]
  %"task.next" = add nsw i64 %"task", 1
  %".13" = icmp sle i64 %"task.next", %"end"
  br i1 %".13", label %"task.body", label %"task.done"
task.body:
  %".15" = udiv i64 %"task", 2
  %".16" = mul i64 %".15", 2
  %".17" = sub i64 %"task", %".16"
  %".18" = mul nsw i64 %".17", 4
  %".19" = sub i64 6, %".18"
  %".20" = icmp slt i64 %".19", 4
  %".21" = select  i1 %".20", i64 %".19", i64 4
  %".22" = mul nsw i64 %".18", 8
  %".23" = getelementptr inbounds i8, ptr %"a", i64 %".22"
  %"a.i1" = freeze ptr %".23"
  %".24" = mul nsw i64 %".18", 40
  %".25" = getelementptr inbounds i8, ptr %"b", i64 %".24"
  %"b.i1" = freeze ptr %".25"
  %".26" = mul nsw i64 %".15", 4
  %".27" = sub i64 5, %".26"
  %".28" = icmp slt i64 %".27", 4
  %".29" = select  i1 %".28", i64 %".27", i64 4
  %".30" = mul nsw i64 %".26", 48
  %".31" = getelementptr inbounds i8, ptr %"a.i1", i64 %".30"
  %"a.i0" = freeze ptr %".31"
  %".32" = mul nsw i64 %".26", 8
  %".33" = getelementptr inbounds i8, ptr %"b.i1", i64 %".32"
  %"b.i0" = freeze ptr %".33"
  br label %"i1.head"
task.done:
  ret void
i1.head:
  %"i1" = phi  i64 [0, %"task.body"], [%"i1.next", %"i0.tail.end"]
  %"i1.next" = add nsw i64 %"i1", 2
  %".35" = icmp sle i64 %"i1.next", %".21"
  br i1 %".35", label %"i1.body", label %"i1.done"
i1.body:
  %".37" = mul nsw i64 %"i1", 8
  %".38" = getelementptr inbounds i8, ptr %"a.i0", i64 %".37"
  %"a.i1.1" = freeze ptr %".38"
  %".39" = mul nsw i64 %"i1", 40
  %".40" = getelementptr inbounds i8, ptr %"b.i0", i64 %".39"
  %"b.i1.1" = freeze ptr %".40"
  br label %"i0.head"
i1.done:
  br label %"task.head"
i0.head:
  %"i0" = phi  i64 [0, %"i1.body"], [%"i0.next", %"i0.body"]
  %"i0.next" = add nsw i64 %"i0", 2
  %".42" = icmp sle i64 %"i0.next", %".29"
  br i1 %".42", label %"i0.body", label %"i0.done"
i0.body:
  %".44" = mul nsw i64 %"i0", 48
  %".45" = getelementptr inbounds i8, ptr %"a.i1.1", i64 %".44"
  %"a.i0.1" = freeze ptr %".45"
  %".46" = mul nsw i64 %"i0", 8
  %".47" = getelementptr inbounds i8, ptr %"b.i1.1", i64 %".46"
  %"b.i0.1" = freeze ptr %".47"
  %".48" = load <2 x double>, ptr %"a.i0.1", align 1
  %".49" = getelementptr inbounds i8, ptr %"a.i0.1", i64 48
  %".50" = load <2 x double>, ptr %".49", align 1
  %".51" = shufflevector <2 x double> %".48", <2 x double> %".50", <2 x i32> <i32 0, i32 2>
  %".52" = shufflevector <2 x double> %".48", <2 x double> %".50", <2 x i32> <i32 1, i32 3>
  %".53" = load <2 x double>, ptr %"b.i0.1", align 1
  %".54" = bitcast <2 x double> %".51" to <4 x float>
  %".55" = bitcast <4 x float> %".54" to <4 x i32>
  %".56" = xor <4 x i32> %".55", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".57" = bitcast <4 x i32> %".56" to <2 x double>
  %".58" = bitcast <2 x double> %".57" to <4 x float>
  %".71" = fmul <4 x float> %".58", %".60"
  %".72" = shufflevector <4 x float> %".58", <4 x float> undef, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".73" = icmp ne <4 x i32> %".70", <i32 0, i32 0, i32 0, i32 0>
  %".74" = fmul <4 x float> %".72", %".64"
  %".75" = select  <4 x i1> %".73", <4 x float> %".74", <4 x float> <float 0.0, float 0.0, float 0.0, float 0.0>
  %".76" = fsub <4 x float> %".71", %".75"
  %".77" = bitcast <2 x double> %".53" to <4 x float>
  %".90" = fmul <4 x float> %".77", %".79"
  %".91" = shufflevector <4 x float> %".77", <4 x float> undef, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".92" = icmp ne <4 x i32> %".89", <i32 0, i32 0, i32 0, i32 0>
  %".93" = fmul <4 x float> %".91", %".83"
  %".94" = select  <4 x i1> %".92", <4 x float> %".93", <4 x float> <float 0.0, float 0.0, float 0.0, float 0.0>
  %".95" = fsub <4 x float> %".90", %".94"
  %".96" = fadd <4 x float> %".76", %".95"
  %".97" = bitcast <4 x float> %".96" to <2 x double>
  store <2 x double> %".97", ptr %"b.i0.1", align 1
  %".99" = getelementptr inbounds i8, ptr %"b.i0.1", i64 40
  %".100" = load <2 x double>, ptr %".99", align 1
  %".101" = bitcast <2 x double> %".52" to <4 x float>
  %".102" = bitcast <4 x float> %".101" to <4 x i32>
  %".103" = xor <4 x i32> %".102", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".104" = bitcast <4 x i32> %".103" to <2 x double>
  %".105" = bitcast <2 x double> %".104" to <4 x float>
  %".106" = fmul <4 x float> %".105", %".60"
  %".107" = shufflevector <4 x float> %".105", <4 x float> undef, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".108" = icmp ne <4 x i32> %".70", <i32 0, i32 0, i32 0, i32 0>
  %".109" = fmul <4 x float> %".107", %".64"
  %".110" = select  <4 x i1> %".108", <4 x float> %".109", <4 x float> <float 0.0, float 0.0, float 0.0, float 0.0>
  %".111" = fsub <4 x float> %".106", %".110"
  %".112" = bitcast <2 x double> %".100" to <4 x float>
  %".113" = fmul <4 x float> %".112", %".79"
  %".114" = shufflevector <4 x float> %".112", <4 x float> undef, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".115" = icmp ne <4 x i32> %".89", <i32 0, i32 0, i32 0, i32 0>
  %".116" = fmul <4 x float> %".114", %".83"
  %".117" = select  <4 x i1> %".115", <4 x float> %".116", <4 x float> <float 0.0, float 0.0, float 0.0, float 0.0>
  %".118" = fsub <4 x float> %".113", %".117"
  %".119" = fadd <4 x float> %".111", %".118"
  %".120" = bitcast <4 x float> %".119" to <2 x double>
  store <2 x double> %".120", ptr %".99", align 1
  br label %"i0.head"
i0.done:
  %".123" = sdiv i64 %".29", 2
  %"i0.whole" = mul i64 %".123", 2
  %"i0.rest" = sub i64 %".29", %"i0.whole"
  %".124" = icmp sgt i64 %"i0.rest", 0
  br i1 %".124", label %"i0.tail.then", label %"i0.tail.end"
i0.tail.then:
  %".126" = mul nsw i64 %"i0.whole", 48
  %".127" = getelementptr inbounds i8, ptr %"a.i1.1", i64 %".126"
  %"a.i0.2" = freeze ptr %".127"
  %".128" = mul nsw i64 %"i0.whole", 8
  %".129" = getelementptr inbounds i8, ptr %"b.i1.1", i64 %".128"
  %"b.i0.2" = freeze ptr %".129"
  %".130" = load <2 x double>, ptr %"a.i0.2", align 1
  %".131" = shufflevector <2 x double> %".130", <2 x double> %".130", <1 x i32> <i32 0>
  %".132" = shufflevector <2 x double> %".130", <2 x double> %".130", <1 x i32> <i32 1>
  %".133" = load <1 x double>, ptr %"b.i0.2", align 1
  %".134" = bitcast <1 x double> %".131" to <2 x float>
  %".135" = bitcast <2 x float> %".134" to <2 x i32>
  %".136" = xor <2 x i32> %".135", <i32 0, i32 2147483648>
  %".137" = bitcast <2 x i32> %".136" to <1 x double>
  %".138" = bitcast <1 x double> %".137" to <2 x float>
  %".151" = fmul <2 x float> %".138", %".140"
  %".152" = shufflevector <2 x float> %".138", <2 x float> undef, <2 x i32> <i32 1, i32 0>
  %".153" = icmp ne <2 x i32> %".150", <i32 0, i32 0>
  %".154" = fmul <2 x float> %".152", %".144"
  %".155" = select  <2 x i1> %".153", <2 x float> %".154", <2 x float> <float 0.0, float 0.0>
  %".156" = fsub <2 x float> %".151", %".155"
  %".157" = bitcast <1 x double> %".133" to <2 x float>
  %".170" = fmul <2 x float> %".157", %".159"
  %".171" = shufflevector <2 x float> %".157", <2 x float> undef, <2 x i32> <i32 1, i32 0>
  %".172" = icmp ne <2 x i32> %".169", <i32 0, i32 0>
  %".173" = fmul <2 x float> %".171", %".163"
  %".174" = select  <2 x i1> %".172", <2 x float> %".173", <2 x float> <float 0.0, float 0.0>
  %".175" = fsub <2 x float> %".170", %".174"
  %".176" = fadd <2 x float> %".156", %".175"
  %".177" = bitcast <2 x float> %".176" to <1 x double>
  store <1 x double> %".177", ptr %"b.i0.2", align 1
  %".179" = getelementptr inbounds i8, ptr %"b.i0.2", i64 40
  %".180" = load <1 x double>, ptr %".179", align 1
  %".181" = bitcast <1 x double> %".132" to <2 x float>
  %".182" = bitcast <2 x float> %".181" to <2 x i32>
  %".183" = xor <2 x i32> %".182", <i32 0, i32 2147483648>
  %".184" = bitcast <2 x i32> %".183" to <1 x double>
  %".185" = bitcast <1 x double> %".184" to <2 x float>
  %".186" = fmul <2 x float> %".185", %".140"
  %".187" = shufflevector <2 x float> %".185", <2 x float> undef, <2 x i32> <i32 1, i32 0>
  %".188" = icmp ne <2 x i32> %".150", <i32 0, i32 0>
  %".189" = fmul <2 x float> %".187", %".144"
  %".190" = select  <2 x i1> %".188", <2 x float> %".189", <2 x float> <float 0.0, float 0.0>
  %".191" = fsub <2 x float> %".186", %".190"
  %".192" = bitcast <1 x double> %".180" to <2 x float>
  %".193" = fmul <2 x float> %".192", %".159"
  %".194" = shufflevector <2 x float> %".192", <2 x float> undef, <2 x i32> <i32 1, i32 0>
  %".195" = icmp ne <2 x i32> %".169", <i32 0, i32 0>
  %".196" = fmul <2 x float> %".194", %".163"
  %".197" = select  <2 x i1> %".195", <2 x float> %".196", <2 x float> <float 0.0, float 0.0>
  %".198" = fsub <2 x float> %".193", %".197"
  %".199" = fadd <2 x float> %".191", %".198"
  %".200" = bitcast <2 x float> %".199" to <1 x double>
  store <1 x double> %".200", ptr %".179", align 1
  br label %"i0.tail.end"
i0.tail.end:
  br label %"i1.head"
}
