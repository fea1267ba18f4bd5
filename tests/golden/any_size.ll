; ModuleID = "ttc_llvm"
target triple = "x86_64-unknown-linux-gnu"
target datalayout = ""

define void @"kernel"(ptr noalias %"a", ptr noalias %"b", ptr %"scalars", ptr %"params", ptr noalias %"scratch", i64 %"begin", i64 %"end") nounwind
{
entry:
  %"p0" = load i64, ptr %"params", align 8
  %".9" = getelementptr inbounds i8, ptr %"params", i64 8
  %"p1" = load i64, ptr %".9", align 8
  %".10" = getelementptr inbounds i8, ptr %"params", i64 16
  %"p2" = load i64, ptr %".10", align 8
  %".11" = getelementptr inbounds i8, ptr %"params", i64 24
  %"p3" = load i64, ptr %".11", align 8
  %"alpha0" = load double, ptr %"scalars", align 8
  %".62" = insertelement <2 x double> undef, double %"alpha0", i32 0
  %".63" = shufflevector <2 x double> %".62", <2 x double> undef, <2 x i32> <i32 0, i32 0>
  %".130" = insertelement <1 x double> undef, double %"alpha0", i32 0
  %".131" = shufflevector <1 x double> %".130", <1 x double> undef, <1 x i32> <i32 0>
  br label %"task.head"
task.head:
  %"task" = phi  i64 [%"begin", %"entry"], [%"task.next", %"i0.tail.end"]
  %"task.next" = add nsw i64 %"task", 1
  %".13" = icmp sle i64 %"task.next", %"end"
  br i1 %".13", label %"task.body", label %"task.done"
task.body:
  %".15" = add i64 %"p0", 3
  %".16" = udiv i64 %".15", 4
  %".17" = udiv i64 %"task", %".16"
  %".18" = mul i64 %".17", %".16"
  %".19" = sub i64 %"task", %".18"
  %".20" = mul nsw i64 %".19", 4
  %".21" = sub i64 %"p0", %".20"
  %".22" = icmp slt i64 %".21", 4
  %".23" = select  i1 %".22", i64 %".21", i64 4
  %".24" = mul nsw i64 %"p2", 8
  %".25" = mul nsw i64 %".20", %".24"
  %".26" = getelementptr inbounds i8, ptr %"a", i64 %".25"
  %"a.i0" = freeze ptr %".26"
  %".27" = mul nsw i64 %".20", 8
  %".28" = getelementptr inbounds i8, ptr %"b", i64 %".27"
  %"b.i0" = freeze ptr %".28"
  %".29" = add i64 %"p1", 3
  %".30" = udiv i64 %".29", 4
  %".31" = mul nsw i64 %".17", 4
  %".32" = sub i64 %"p1", %".31"
  %".33" = icmp slt i64 %".32", 4
  %".34" = select  i1 %".33", i64 %".32", i64 4
  %".35" = mul nsw i64 %".31", 8
  %".36" = getelementptr inbounds i8, ptr %"a.i0", i64 %".35"
  %"a.i1" = freeze ptr %".36"
  %".37" = mul nsw i64 %"p3", 8
  %".38" = mul nsw i64 %".31", %".37"
  %".39" = getelementptr inbounds i8, ptr %"b.i0", i64 %".38"
  %"b.i1" = freeze ptr %".39"
  br label %"i0.head"
task.done:
  ret void
i0.head:
  %"i0" = phi  i64 [0, %"task.body"], [%"i0.next", %"i1.tail.end"]
  %"i0.next" = add nsw i64 %"i0", 2
  %".41" = icmp sle i64 %"i0.next", %".23"
  br i1 %".41", label %"i0.body", label %"i0.done"
i0.body:
  %".43" = mul nsw i64 %"p2", 8
  %".44" = mul nsw i64 %"i0", %".43"
  %".45" = getelementptr inbounds i8, ptr %"a.i1", i64 %".44"
  %"a.i0.1" = freeze ptr %".45"
  %".46" = mul nsw i64 %"i0", 8
  %".47" = getelementptr inbounds i8, ptr %"b.i1", i64 %".46"
  %"b.i0.1" = freeze ptr %".47"
  br label %"i1.head"
i0.done:
  %".100" = sdiv i64 %".23", 2
  %"i0.whole" = mul i64 %".100", 2
  %"i0.rest" = sub i64 %".23", %"i0.whole"
  %".101" = icmp sgt i64 %"i0.rest", 0
  br i1 %".101", label %"i0.tail.then", label %"i0.tail.end"
i1.head:
  %"i1" = phi  i64 [0, %"i0.body"], [%"i1.next", %"i1.body"]
  %"i1.next" = add nsw i64 %"i1", 2
  %".49" = icmp sle i64 %"i1.next", %".34"
  br i1 %".49", label %"i1.body", label %"i1.done"
i1.body:
  %".51" = mul nsw i64 %"i1", 8
  %".52" = getelementptr inbounds i8, ptr %"a.i0.1", i64 %".51"
  %"a.i1.1" = freeze ptr %".52"
  %".53" = mul nsw i64 %"p3", 8
  %".54" = mul nsw i64 %"i1", %".53"
  %".55" = getelementptr inbounds i8, ptr %"b.i0.1", i64 %".54"
  %"b.i1.1" = freeze ptr %".55"
  %".56" = load <2 x double>, ptr %"a.i1.1", align 1
  %".57" = mul nsw i64 %"p2", 8
  %".58" = getelementptr inbounds i8, ptr %"a.i1.1", i64 %".57"
  %".59" = load <2 x double>, ptr %".58", align 1
  %".60" = shufflevector <2 x double> %".56", <2 x double> %".59", <2 x i32> <i32 0, i32 2>
  %".61" = shufflevector <2 x double> %".56", <2 x double> %".59", <2 x i32> <i32 1, i32 3>
  %".64" = fmul <2 x double> %".60", %".63"
  store <2 x double> %".64", ptr %"b.i1.1", align 1
  %".66" = mul nsw i64 %"p3", 8
  %".67" = getelementptr inbounds i8, ptr %"b.i1.1", i64 %".66"
  %".68" = fmul <2 x double> %".61", %".63"
  store <2 x double> %".68", ptr %".67", align 1
  br label %"i1.head"
i1.done:
  %".71" = sdiv i64 %".34", 2
  %"i1.whole" = mul i64 %".71", 2
  %"i1.rest" = sub i64 %".34", %"i1.whole"
  %".72" = icmp sgt i64 %"i1.rest", 0
  br i1 %".72", label %"i1.tail.then", label %"i1.tail.end"
i1.tail.then:
  %".74" = mul nsw i64 %"i1.whole", 8
  %".75" = getelementptr inbounds i8, ptr %"a.i0.1", i64 %".74"
  %"a.i1.2" = freeze ptr %".75"
  %".76" = mul nsw i64 %"p3", 8
  %".77" = mul nsw i64 %"i1.whole", %".76"
  %".78" = getelementptr inbounds i8, ptr %"b.i0.1", i64 %".77"
  %"b.i1.2" = freeze ptr %".78"
  br label %"i1.head.1"
i1.tail.end:
  br label %"i0.head"
i1.head.1:
  %"i1.1" = phi  i64 [0, %"i1.tail.then"], [%"i1.next.1", %"i1.body.1"]
  %"i1.next.1" = add nsw i64 %"i1.1", 1
  %".80" = icmp sle i64 %"i1.next.1", %"i1.rest"
  br i1 %".80", label %"i1.body.1", label %"i1.done.1"
i1.body.1:
  %".82" = sub i64 %"i1.rest", %"i1.1"
  %".83" = icmp slt i64 %".82", 1
  %".84" = select  i1 %".83", i64 %".82", i64 1
  %".85" = mul nsw i64 %"i1.1", 8
  %".86" = getelementptr inbounds i8, ptr %"a.i1.2", i64 %".85"
  %"a.i1.3" = freeze ptr %".86"
  %".87" = mul nsw i64 %"p3", 8
  %".88" = mul nsw i64 %"i1.1", %".87"
  %".89" = getelementptr inbounds i8, ptr %"b.i1.2", i64 %".88"
  %"b.i1.3" = freeze ptr %".89"
  %".90" = load <1 x double>, ptr %"a.i1.3", align 1
  %".91" = mul nsw i64 %"p2", 8
  %".92" = getelementptr inbounds i8, ptr %"a.i1.3", i64 %".91"
  %".93" = load <1 x double>, ptr %".92", align 1
  %".94" = shufflevector <1 x double> %".90", <1 x double> %".93", <2 x i32> <i32 0, i32 1>
  %".95" = fmul <2 x double> %".94", %".63"
  store <2 x double> %".95", ptr %"b.i1.3", align 1
  br label %"i1.head.1"
i1.done.1:
  br label %"i1.tail.end"
i0.tail.then:
  %".103" = mul nsw i64 %"p2", 8
  %".104" = mul nsw i64 %"i0.whole", %".103"
  %".105" = getelementptr inbounds i8, ptr %"a.i1", i64 %".104"
  %"a.i0.2" = freeze ptr %".105"
  %".106" = mul nsw i64 %"i0.whole", 8
  %".107" = getelementptr inbounds i8, ptr %"b.i1", i64 %".106"
  %"b.i0.2" = freeze ptr %".107"
  br label %"i0.head.1"
i0.tail.end:
  br label %"task.head"
i0.head.1:
  %"i0.1" = phi  i64 [0, %"i0.tail.then"], [%"i0.next.1", %"i1.tail.end.1"]
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  %".109" = icmp sle i64 %"i0.next.1", %"i0.rest"
  br i1 %".109", label %"i0.body.1", label %"i0.done.1"
i0.body.1:
  %".111" = sub i64 %"i0.rest", %"i0.1"
  %".112" = icmp slt i64 %".111", 1
  %".113" = select  i1 %".112", i64 %".111", i64 1
  %".114" = mul nsw i64 %"p2", 8
  %".115" = mul nsw i64 %"i0.1", %".114"
  %".116" = getelementptr inbounds i8, ptr %"a.i0.2", i64 %".115"
  %"a.i0.3" = freeze ptr %".116"
  %".117" = mul nsw i64 %"i0.1", 8
  %".118" = getelementptr inbounds i8, ptr %"b.i0.2", i64 %".117"
  %"b.i0.3" = freeze ptr %".118"
  br label %"i1.head.2"
i0.done.1:
  br label %"i0.tail.end"
i1.head.2:
  %"i1.2" = phi  i64 [0, %"i0.body.1"], [%"i1.next.2", %"i1.body.2"]
  %"i1.next.2" = add nsw i64 %"i1.2", 2
  %".120" = icmp sle i64 %"i1.next.2", %".34"
  br i1 %".120", label %"i1.body.2", label %"i1.done.2"
i1.body.2:
  %".122" = mul nsw i64 %"i1.2", 8
  %".123" = getelementptr inbounds i8, ptr %"a.i0.3", i64 %".122"
  %"a.i1.4" = freeze ptr %".123"
  %".124" = mul nsw i64 %"p3", 8
  %".125" = mul nsw i64 %"i1.2", %".124"
  %".126" = getelementptr inbounds i8, ptr %"b.i0.3", i64 %".125"
  %"b.i1.4" = freeze ptr %".126"
  %".127" = load <2 x double>, ptr %"a.i1.4", align 1
  %".128" = shufflevector <2 x double> %".127", <2 x double> %".127", <1 x i32> <i32 0>
  %".129" = shufflevector <2 x double> %".127", <2 x double> %".127", <1 x i32> <i32 1>
  %".132" = fmul <1 x double> %".128", %".131"
  store <1 x double> %".132", ptr %"b.i1.4", align 1
  %".134" = mul nsw i64 %"p3", 8
  %".135" = getelementptr inbounds i8, ptr %"b.i1.4", i64 %".134"
  %".136" = fmul <1 x double> %".129", %".131"
  store <1 x double> %".136", ptr %".135", align 1
  br label %"i1.head.2"
i1.done.2:
  %".139" = sdiv i64 %".34", 2
  %"i1.whole.1" = mul i64 %".139", 2
  %"i1.rest.1" = sub i64 %".34", %"i1.whole.1"
  %".140" = icmp sgt i64 %"i1.rest.1", 0
  br i1 %".140", label %"i1.tail.then.1", label %"i1.tail.end.1"
i1.tail.then.1:
  %".142" = mul nsw i64 %"i1.whole.1", 8
  %".143" = getelementptr inbounds i8, ptr %"a.i0.3", i64 %".142"
  %"a.i1.5" = freeze ptr %".143"
  %".144" = mul nsw i64 %"p3", 8
  %".145" = mul nsw i64 %"i1.whole.1", %".144"
  %".146" = getelementptr inbounds i8, ptr %"b.i0.3", i64 %".145"
  %"b.i1.5" = freeze ptr %".146"
  br label %"i1.head.3"
i1.tail.end.1:
  br label %"i0.head.1"
i1.head.3:
  %"i1.3" = phi  i64 [0, %"i1.tail.then.1"], [%"i1.next.3", %"i1.body.3"]
  %"i1.next.3" = add nsw i64 %"i1.3", 1
  %".148" = icmp sle i64 %"i1.next.3", %"i1.rest.1"
  br i1 %".148", label %"i1.body.3", label %"i1.done.3"
i1.body.3:
  %".150" = sub i64 %"i1.rest.1", %"i1.3"
  %".151" = icmp slt i64 %".150", 1
  %".152" = select  i1 %".151", i64 %".150", i64 1
  %".153" = mul nsw i64 %"i1.3", 8
  %".154" = getelementptr inbounds i8, ptr %"a.i1.5", i64 %".153"
  %"a.i1.6" = freeze ptr %".154"
  %".155" = mul nsw i64 %"p3", 8
  %".156" = mul nsw i64 %"i1.3", %".155"
  %".157" = getelementptr inbounds i8, ptr %"b.i1.5", i64 %".156"
  %"b.i1.6" = freeze ptr %".157"
  %".158" = load <1 x double>, ptr %"a.i1.6", align 1
  %".159" = fmul <1 x double> %".158", %".131"
  store <1 x double> %".159", ptr %"b.i1.6", align 1
  br label %"i1.head.3"
i1.done.3:
  br label %"i1.tail.end.1"
}
