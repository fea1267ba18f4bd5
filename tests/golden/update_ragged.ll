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
  %".51" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"alpha0", i32 0
  %".52" = shufflevector <4 x float> %".51", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".53" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"alpha1", i32 0
  %".54" = shufflevector <4 x float> %".53", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".55" = fneg <4 x float> %".54"
  %".56" = shufflevector <4 x float> %".54", <4 x float> %".55", <4 x i32> <i32 4, i32 1, i32 6, i32 3>
  %".62" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"beta0", i32 0
  %".63" = shufflevector <4 x float> %".62", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".64" = insertelement <4 x float> <float undef, float undef, float undef, float undef>, float %"beta1", i32 0
  %".65" = shufflevector <4 x float> %".64", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".66" = fneg <4 x float> %".65"
  %".67" = shufflevector <4 x float> %".65", <4 x float> %".66", <4 x i32> <i32 4, i32 1, i32 6, i32 3>
  %".109" = insertelement <2 x float> <float undef, float undef>, float %"alpha0", i32 0
  %".110" = shufflevector <2 x float> %".109", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".111" = insertelement <2 x float> <float undef, float undef>, float %"alpha1", i32 0
  %".112" = shufflevector <2 x float> %".111", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".113" = fneg <2 x float> %".112"
  %".114" = shufflevector <2 x float> %".112", <2 x float> %".113", <2 x i32> <i32 2, i32 1>
  %".120" = insertelement <2 x float> <float undef, float undef>, float %"beta0", i32 0
  %".121" = shufflevector <2 x float> %".120", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".122" = insertelement <2 x float> <float undef, float undef>, float %"beta1", i32 0
  %".123" = shufflevector <2 x float> %".122", <2 x float> <float undef, float undef>, <2 x i32> <i32 0, i32 0>
  %".124" = fneg <2 x float> %".123"
  %".125" = shufflevector <2 x float> %".123", <2 x float> %".124", <2 x i32> <i32 2, i32 1>
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
  %".40" = load <2 x double>, ptr %"a.i0.1", align 8
  %".41" = getelementptr inbounds i8, ptr %"a.i0.1", i64 48
  %".42" = load <2 x double>, ptr %".41", align 8
  %".43" = shufflevector <2 x double> %".40", <2 x double> %".42", <2 x i32> <i32 0, i32 2>
  %".44" = shufflevector <2 x double> %".40", <2 x double> %".42", <2 x i32> <i32 1, i32 3>
  %".45" = load <2 x double>, ptr %"b.i0.1", align 8
  %".46" = bitcast <2 x double> %".43" to <4 x float>
  %".47" = bitcast <4 x float> %".46" to <4 x i32>
  %".48" = xor <4 x i32> %".47", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".49" = bitcast <4 x i32> %".48" to <2 x double>
  %".50" = bitcast <2 x double> %".49" to <4 x float>
  %".57" = fmul <4 x float> %".50", %".52"
  %".58" = shufflevector <4 x float> %".50", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".59" = fmul <4 x float> %".58", %".56"
  %".60" = fadd <4 x float> %".57", %".59"
  %".61" = bitcast <2 x double> %".45" to <4 x float>
  %".68" = fmul <4 x float> %".61", %".63"
  %".69" = shufflevector <4 x float> %".61", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".70" = fmul <4 x float> %".69", %".67"
  %".71" = fadd <4 x float> %".68", %".70"
  %".72" = fadd <4 x float> %".60", %".71"
  %".73" = bitcast <4 x float> %".72" to <2 x double>
  store <2 x double> %".73", ptr %"b.i0.1", align 8
  %".75" = getelementptr inbounds i8, ptr %"b.i0.1", i64 40
  %".76" = load <2 x double>, ptr %".75", align 8
  %".77" = bitcast <2 x double> %".44" to <4 x float>
  %".78" = bitcast <4 x float> %".77" to <4 x i32>
  %".79" = xor <4 x i32> %".78", <i32 0, i32 2147483648, i32 0, i32 2147483648>
  %".80" = bitcast <4 x i32> %".79" to <2 x double>
  %".81" = bitcast <2 x double> %".80" to <4 x float>
  %".82" = fmul <4 x float> %".81", %".52"
  %".83" = shufflevector <4 x float> %".81", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".84" = fmul <4 x float> %".83", %".56"
  %".85" = fadd <4 x float> %".82", %".84"
  %".86" = bitcast <2 x double> %".76" to <4 x float>
  %".87" = fmul <4 x float> %".86", %".63"
  %".88" = shufflevector <4 x float> %".86", <4 x float> <float undef, float undef, float undef, float undef>, <4 x i32> <i32 1, i32 0, i32 3, i32 2>
  %".89" = fmul <4 x float> %".88", %".67"
  %".90" = fadd <4 x float> %".87", %".89"
  %".91" = fadd <4 x float> %".85", %".90"
  %".92" = bitcast <4 x float> %".91" to <2 x double>
  store <2 x double> %".92", ptr %".75", align 8
  br label %"i0.head"
i0.done:
  %".95" = sdiv i64 %".27", 2
  %"i0.whole" = mul i64 %".95", 2
  %"i0.rest" = sub i64 %".27", %"i0.whole"
  %".96" = icmp sgt i64 %"i0.rest", 0
  br i1 %".96", label %"i0.tail.then", label %"i0.tail.end"
i0.tail.then:
  %".98" = mul nsw i64 %"i0.whole", 48
  %"a.i0.2" = getelementptr inbounds i8, ptr %"a.i1.1", i64 %".98"
  %".99" = mul nsw i64 %"i0.whole", 8
  %"b.i0.2" = getelementptr inbounds i8, ptr %"b.i1.1", i64 %".99"
  %".100" = load <2 x double>, ptr %"a.i0.2", align 8
  %".101" = shufflevector <2 x double> %".100", <2 x double> %".100", <1 x i32> <i32 0>
  %".102" = shufflevector <2 x double> %".100", <2 x double> %".100", <1 x i32> <i32 1>
  %".103" = load <1 x double>, ptr %"b.i0.2", align 8
  %".104" = bitcast <1 x double> %".101" to <2 x float>
  %".105" = bitcast <2 x float> %".104" to <2 x i32>
  %".106" = xor <2 x i32> %".105", <i32 0, i32 2147483648>
  %".107" = bitcast <2 x i32> %".106" to <1 x double>
  %".108" = bitcast <1 x double> %".107" to <2 x float>
  %".115" = fmul <2 x float> %".108", %".110"
  %".116" = shufflevector <2 x float> %".108", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".117" = fmul <2 x float> %".116", %".114"
  %".118" = fadd <2 x float> %".115", %".117"
  %".119" = bitcast <1 x double> %".103" to <2 x float>
  %".126" = fmul <2 x float> %".119", %".121"
  %".127" = shufflevector <2 x float> %".119", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".128" = fmul <2 x float> %".127", %".125"
  %".129" = fadd <2 x float> %".126", %".128"
  %".130" = fadd <2 x float> %".118", %".129"
  %".131" = bitcast <2 x float> %".130" to <1 x double>
  store <1 x double> %".131", ptr %"b.i0.2", align 8
  %".133" = getelementptr inbounds i8, ptr %"b.i0.2", i64 40
  %".134" = load <1 x double>, ptr %".133", align 8
  %".135" = bitcast <1 x double> %".102" to <2 x float>
  %".136" = bitcast <2 x float> %".135" to <2 x i32>
  %".137" = xor <2 x i32> %".136", <i32 0, i32 2147483648>
  %".138" = bitcast <2 x i32> %".137" to <1 x double>
  %".139" = bitcast <1 x double> %".138" to <2 x float>
  %".140" = fmul <2 x float> %".139", %".110"
  %".141" = shufflevector <2 x float> %".139", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".142" = fmul <2 x float> %".141", %".114"
  %".143" = fadd <2 x float> %".140", %".142"
  %".144" = bitcast <1 x double> %".134" to <2 x float>
  %".145" = fmul <2 x float> %".144", %".121"
  %".146" = shufflevector <2 x float> %".144", <2 x float> <float undef, float undef>, <2 x i32> <i32 1, i32 0>
  %".147" = fmul <2 x float> %".146", %".125"
  %".148" = fadd <2 x float> %".145", %".147"
  %".149" = fadd <2 x float> %".143", %".148"
  %".150" = bitcast <2 x float> %".149" to <1 x double>
  store <1 x double> %".150", ptr %".133", align 8
  br label %"i0.tail.end"
i0.tail.end:
  br label %"i1.head"
}
