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
  %".59" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"alpha0", i32 0
  %".60" = shufflevector <4 x float> %".59", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".61" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"alpha1", i32 0
  %".62" = shufflevector <4 x float> %".61", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".63" = fneg <4 x float> %".62"
  %".64" = shufflevector <4 x float> %".62", <4 x float> %".63", <4 x i32> <i32 4, i32 1, i32 6, i32 3>
  %".70" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"beta0", i32 0
  %".71" = shufflevector <4 x float> %".70", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".72" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"beta1", i32 0
  %".73" = shufflevector <4 x float> %".72", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".74" = fneg <4 x float> %".73"
  %".75" = shufflevector <4 x float> %".73", <4 x float> %".74", <4 x i32> <i32 4, i32 1, i32 6, i32 3>
  %".119" = insertelement <2 x float> <float undef, float undef>, float %"alpha0", i32 0
  %".120" = shufflevector <2 x float> %".119", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".121" = insertelement <2 x float> <float undef, float undef>, float %"alpha1", i32 0
  %".122" = shufflevector <2 x float> %".121", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".123" = fneg <2 x float> %".122"
  %".124" = shufflevector <2 x float> %".122", <2 x float> %".123", <2 x i32> <i32 2, i32 1>
  %".130" = insertelement <2 x float> <float undef, float undef>, float %"beta0", i32 0
  %".131" = shufflevector <2 x float> %".130", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".132" = insertelement <2 x float> <float undef, float undef>, float %"beta1", i32 0
  %".133" = shufflevector <2 x float> %".132", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".134" = fneg <2 x float> %".133"
  %".135" = shufflevector <2 x float> %".133", <2 x float> %".134", <2 x i32> <i32 2, i32 1>
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
  %".65" = fmul <4 x float> %".58", %".60"
  %".66" = shufflevector <4 x float> %".58", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".67" = fmul <4 x float> %".66", %".64"
  %".68" = fadd <4 x float> %".65", %".67"
  %".69" = bitcast <2 x double> %".53" to <4 x float>
  %".76" = fmul <4 x float> %".69", %".71"
  %".77" = shufflevector <4 x float> %".69", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".78" = fmul <4 x float> %".77", %".75"
  %".79" = fadd <4 x float> %".76", %".78"
  %".80" = fadd <4 x float> %".68", %".79"
  %".81" = bitcast <4 x float> %".80" to <2 x double>
  store <2 x double> %".81", ptr %"b.i0.1", align 1
  %".83" = getelementptr inbounds i8, ptr %"b.i0.1", i64 40
  %".84" = load <2 x double>, ptr %".83", align 1
  %".85" = bitcast <2 x double> %".52" to <4 x float>
  %".86" = bitcast <4 x float> %".85" to <4 x i32>
  %".87" = xor <4 x i32> %".86", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".88" = bitcast <4 x i32> %".87" to <2 x double>
  %".89" = bitcast <2 x double> %".88" to <4 x float>
  %".90" = fmul <4 x float> %".89", %".60"
  %".91" = shufflevector <4 x float> %".89", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".92" = fmul <4 x float> %".91", %".64"
  %".93" = fadd <4 x float> %".90", %".92"
  %".94" = bitcast <2 x double> %".84" to <4 x float>
  %".95" = fmul <4 x float> %".94", %".71"
  %".96" = shufflevector <4 x float> %".94", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".97" = fmul <4 x float> %".96", %".75"
  %".98" = fadd <4 x float> %".95", %".97"
  %".99" = fadd <4 x float> %".93", %".98"
  %".100" = bitcast <4 x float> %".99" to <2 x double>
  store <2 x double> %".100", ptr %".83", align 1
  br label %"i0.head"
i0.done:
  %".103" = sdiv i64 %".29", 2
  %"i0.whole" = mul i64 %".103", 2
  %"i0.rest" = sub i64 %".29", %"i0.whole"
  %".104" = icmp sgt i64 %"i0.rest", 0
  br i1 %".104", label %"i0.tail.then", label %"i0.tail.end"
i0.tail.then:
  %".106" = mul nsw i64 %"i0.whole", 48
  %".107" = getelementptr inbounds i8, ptr %"a.i1.1", i64 %".106"
  %"a.i0.2" = freeze ptr %".107"
  %".108" = mul nsw i64 %"i0.whole", 8
  %".109" = getelementptr inbounds i8, ptr %"b.i1.1", i64 %".108"
  %"b.i0.2" = freeze ptr %".109"
  %".110" = load <2 x double>, ptr %"a.i0.2", align 1
  %".111" = shufflevector <2 x double> %".110", <2 x double> %".110", <1 x i32> <i32 0>
  %".112" = shufflevector <2 x double> %".110", <2 x double> %".110", <1 x i32> <i32 1>
  %".113" = load <1 x double>, ptr %"b.i0.2", align 1
  %".114" = bitcast <1 x double> %".111" to <2 x float>
  %".115" = bitcast <2 x float> %".114" to <2 x i32>
  %".116" = xor <2 x i32> %".115", <i32 0, i32 2147483648>
  %".117" = bitcast <2 x i32> %".116" to <1 x double>
  %".118" = bitcast <1 x double> %".117" to <2 x float>
  %".125" = fmul <2 x float> %".118", %".120"
  %".126" = shufflevector <2 x float> %".118", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".127" = fmul <2 x float> %".126", %".124"
  %".128" = fadd <2 x float> %".125", %".127"
  %".129" = bitcast <1 x double> %".113" to <2 x float>
  %".136" = fmul <2 x float> %".129", %".131"
  %".137" = shufflevector <2 x float> %".129", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".138" = fmul <2 x float> %".137", %".135"
  %".139" = fadd <2 x float> %".136", %".138"
  %".140" = fadd <2 x float> %".128", %".139"
  %".141" = bitcast <2 x float> %".140" to <1 x double>
  store <1 x double> %".141", ptr %"b.i0.2", align 1
  %".143" = getelementptr inbounds i8, ptr %"b.i0.2", i64 40
  %".144" = load <1 x double>, ptr %".143", align 1
  %".145" = bitcast <1 x double> %".112" to <2 x float>
  %".146" = bitcast <2 x float> %".145" to <2 x i32>
  %".147" = xor <2 x i32> %".146", <i32 0, i32 2147483648>
  %".148" = bitcast <2 x i32> %".147" to <1 x double>
  %".149" = bitcast <1 x double> %".148" to <2 x float>
  %".150" = fmul <2 x float> %".149", %".120"
  %".151" = shufflevector <2 x float> %".149", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".152" = fmul <2 x float> %".151", %".124"
  %".153" = fadd <2 x float> %".150", %".152"
  %".154" = bitcast <1 x double> %".144" to <2 x float>
  %".155" = fmul <2 x float> %".154", %".131"
  %".156" = shufflevector <2 x float> %".154", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".157" = fmul <2 x float> %".156", %".135"
  %".158" = fadd <2 x float> %".155", %".157"
  %".159" = fadd <2 x float> %".153", %".158"
  %".160" = bitcast <2 x float> %".159" to <1 x double>
  store <1 x double> %".160", ptr %".143", align 1
  br label %"i0.tail.end"
i0.tail.end:
  br label %"i1.head"
}
