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
  %".53" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"alpha0", i32 0
  %".54" = shufflevector <4 x float> %".53", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".55" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"alpha1", i32 0
  %".56" = shufflevector <4 x float> %".55", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".57" = fneg <4 x float> %".56"
  %".58" = shufflevector <4 x float> %".56", <4 x float> %".57", <4 x i32> <i32 4, i32 1, i32 6, i32 3>
  %".64" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"beta0", i32 0
  %".65" = shufflevector <4 x float> %".64", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".66" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"beta1", i32 0
  %".67" = shufflevector <4 x float> %".66", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".68" = fneg <4 x float> %".67"
  %".69" = shufflevector <4 x float> %".67", <4 x float> %".68", <4 x i32> <i32 4, i32 1, i32 6, i32 3>
  %".113" = insertelement <2 x float> <float undef, float undef>, float %"alpha0", i32 0
  %".114" = shufflevector <2 x float> %".113", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".115" = insertelement <2 x float> <float undef, float undef>, float %"alpha1", i32 0
  %".116" = shufflevector <2 x float> %".115", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".117" = fneg <2 x float> %".116"
  %".118" = shufflevector <2 x float> %".116", <2 x float> %".117", <2 x i32> <i32 2, i32 1>
  %".124" = insertelement <2 x float> <float undef, float undef>, float %"beta0", i32 0
  %".125" = shufflevector <2 x float> %".124", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".126" = insertelement <2 x float> <float undef, float undef>, float %"beta1", i32 0
  %".127" = shufflevector <2 x float> %".126", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".128" = fneg <2 x float> %".127"
  %".129" = shufflevector <2 x float> %".127", <2 x float> %".128", <2 x i32> <i32 2, i32 1>
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
  %"a.i1" = getelementptr inbounds i8, ptr %"a", i64 %".22"
  %".23" = mul nsw i64 %".18", 40
  %"b.i1" = getelementptr inbounds i8, ptr %"b", i64 %".23"
  %".24" = mul nsw i64 %".15", 4
  %".25" = sub i64 5, %".24"
  %".26" = icmp slt i64 %".25", 4
  %".27" = select  i1 %".26", i64 %".25", i64 4
  %".28" = mul nsw i64 %".24", 48
  %"a.i0" = getelementptr inbounds i8, ptr %"a.i1", i64 %".28"
  %".29" = mul nsw i64 %".24", 8
  %"b.i0" = getelementptr inbounds i8, ptr %"b.i1", i64 %".29"
  br label %"i1.head"
task.done:
  ret void
i1.head:
  %"i1" = phi  i64 [0, %"task.body"], [%"i1.next", %"i0.tail.end"]
  %"i1.next" = add nsw i64 %"i1", 2
  %".31" = icmp sle i64 %"i1.next", %".21"
  br i1 %".31", label %"i1.body", label %"i1.done"
i1.body:
  %".33" = mul nsw i64 %"i1", 8
  %"a.i1.1" = getelementptr inbounds i8, ptr %"a.i0", i64 %".33"
  %".34" = mul nsw i64 %"i1", 40
  %"b.i1.1" = getelementptr inbounds i8, ptr %"b.i0", i64 %".34"
  br label %"i0.head"
i1.done:
  br label %"task.head"
i0.head:
  %"i0" = phi  i64 [0, %"i1.body"], [%"i0.next", %"i0.body"]
  %"i0.next" = add nsw i64 %"i0", 2
  %".36" = icmp sle i64 %"i0.next", %".27"
  br i1 %".36", label %"i0.body", label %"i0.done"
i0.body:
  %".38" = mul nsw i64 %"i0", 48
  %"a.i0.1" = getelementptr inbounds i8, ptr %"a.i1.1", i64 %".38"
  %".39" = mul nsw i64 %"i0", 8
  %"b.i0.1" = getelementptr inbounds i8, ptr %"b.i1.1", i64 %".39"
  %".40" = freeze ptr %"a.i0.1"
  %".41" = freeze ptr %"b.i0.1"
  %".42" = load <2 x double>, ptr %".40", align 1
  %".43" = getelementptr inbounds i8, ptr %".40", i64 48
  %".44" = load <2 x double>, ptr %".43", align 1
  %".45" = shufflevector <2 x double> %".42", <2 x double> %".44", <2 x i32> <i32 0, i32 2>
  %".46" = shufflevector <2 x double> %".42", <2 x double> %".44", <2 x i32> <i32 1, i32 3>
  %".47" = load <2 x double>, ptr %".41", align 1
  %".48" = bitcast <2 x double> %".45" to <4 x float>
  %".49" = bitcast <4 x float> %".48" to <4 x i32>
  %".50" = xor <4 x i32> %".49", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".51" = bitcast <4 x i32> %".50" to <2 x double>
  %".52" = bitcast <2 x double> %".51" to <4 x float>
  %".59" = fmul <4 x float> %".52", %".54"
  %".60" = shufflevector <4 x float> %".52", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".61" = fmul <4 x float> %".60", %".58"
  %".62" = fadd <4 x float> %".59", %".61"
  %".63" = bitcast <2 x double> %".47" to <4 x float>
  %".70" = fmul <4 x float> %".63", %".65"
  %".71" = shufflevector <4 x float> %".63", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".72" = fmul <4 x float> %".71", %".69"
  %".73" = fadd <4 x float> %".70", %".72"
  %".74" = fadd <4 x float> %".62", %".73"
  %".75" = bitcast <4 x float> %".74" to <2 x double>
  store <2 x double> %".75", ptr %".41", align 1
  %".77" = getelementptr inbounds i8, ptr %".41", i64 40
  %".78" = load <2 x double>, ptr %".77", align 1
  %".79" = bitcast <2 x double> %".46" to <4 x float>
  %".80" = bitcast <4 x float> %".79" to <4 x i32>
  %".81" = xor <4 x i32> %".80", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".82" = bitcast <4 x i32> %".81" to <2 x double>
  %".83" = bitcast <2 x double> %".82" to <4 x float>
  %".84" = fmul <4 x float> %".83", %".54"
  %".85" = shufflevector <4 x float> %".83", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".86" = fmul <4 x float> %".85", %".58"
  %".87" = fadd <4 x float> %".84", %".86"
  %".88" = bitcast <2 x double> %".78" to <4 x float>
  %".89" = fmul <4 x float> %".88", %".65"
  %".90" = shufflevector <4 x float> %".88", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".91" = fmul <4 x float> %".90", %".69"
  %".92" = fadd <4 x float> %".89", %".91"
  %".93" = fadd <4 x float> %".87", %".92"
  %".94" = bitcast <4 x float> %".93" to <2 x double>
  store <2 x double> %".94", ptr %".77", align 1
  br label %"i0.head"
i0.done:
  %".97" = sdiv i64 %".27", 2
  %"i0.whole" = mul i64 %".97", 2
  %"i0.rest" = sub i64 %".27", %"i0.whole"
  %".98" = icmp sgt i64 %"i0.rest", 0
  br i1 %".98", label %"i0.tail.then", label %"i0.tail.end"
i0.tail.then:
  %".100" = mul nsw i64 %"i0.whole", 48
  %"a.i0.2" = getelementptr inbounds i8, ptr %"a.i1.1", i64 %".100"
  %".101" = mul nsw i64 %"i0.whole", 8
  %"b.i0.2" = getelementptr inbounds i8, ptr %"b.i1.1", i64 %".101"
  %".102" = freeze ptr %"a.i0.2"
  %".103" = freeze ptr %"b.i0.2"
  %".104" = load <2 x double>, ptr %".102", align 1
  %".105" = shufflevector <2 x double> %".104", <2 x double> %".104", <1 x i32> <i32 0>
  %".106" = shufflevector <2 x double> %".104", <2 x double> %".104", <1 x i32> <i32 1>
  %".107" = load <1 x double>, ptr %".103", align 1
  %".108" = bitcast <1 x double> %".105" to <2 x float>
  %".109" = bitcast <2 x float> %".108" to <2 x i32>
  %".110" = xor <2 x i32> %".109", <i32 0, i32 2147483648>
  %".111" = bitcast <2 x i32> %".110" to <1 x double>
  %".112" = bitcast <1 x double> %".111" to <2 x float>
  %".119" = fmul <2 x float> %".112", %".114"
  %".120" = shufflevector <2 x float> %".112", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".121" = fmul <2 x float> %".120", %".118"
  %".122" = fadd <2 x float> %".119", %".121"
  %".123" = bitcast <1 x double> %".107" to <2 x float>
  %".130" = fmul <2 x float> %".123", %".125"
  %".131" = shufflevector <2 x float> %".123", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".132" = fmul <2 x float> %".131", %".129"
  %".133" = fadd <2 x float> %".130", %".132"
  %".134" = fadd <2 x float> %".122", %".133"
  %".135" = bitcast <2 x float> %".134" to <1 x double>
  store <1 x double> %".135", ptr %".103", align 1
  %".137" = getelementptr inbounds i8, ptr %".103", i64 40
  %".138" = load <1 x double>, ptr %".137", align 1
  %".139" = bitcast <1 x double> %".106" to <2 x float>
  %".140" = bitcast <2 x float> %".139" to <2 x i32>
  %".141" = xor <2 x i32> %".140", <i32 0, i32 2147483648>
  %".142" = bitcast <2 x i32> %".141" to <1 x double>
  %".143" = bitcast <1 x double> %".142" to <2 x float>
  %".144" = fmul <2 x float> %".143", %".114"
  %".145" = shufflevector <2 x float> %".143", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".146" = fmul <2 x float> %".145", %".118"
  %".147" = fadd <2 x float> %".144", %".146"
  %".148" = bitcast <1 x double> %".138" to <2 x float>
  %".149" = fmul <2 x float> %".148", %".125"
  %".150" = shufflevector <2 x float> %".148", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".151" = fmul <2 x float> %".150", %".129"
  %".152" = fadd <2 x float> %".149", %".151"
  %".153" = fadd <2 x float> %".147", %".152"
  %".154" = bitcast <2 x float> %".153" to <1 x double>
  store <1 x double> %".154", ptr %".137", align 1
  br label %"i0.tail.end"
i0.tail.end:
  br label %"i1.head"
}
