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
  %".54" = insertelement <2 x double> <double undef, double undef>, double %"alpha0", i32 0
  %".55" = shufflevector <2 x double> %".54", <2 x double> <double undef, double undef>, <2 x i32> <i32 0, i32 0>
  %".112" = insertelement <1 x double> <double undef>, double %"alpha0", i32 0
  %".113" = shufflevector <1 x double> %".112", <1 x double> <double undef>, <1 x i32> <i32 0>
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
  %"a.i0" = getelementptr inbounds i8, ptr %"a", i64 %".25"
  %".26" = mul nsw i64 %".20", 8
  %"b.i0" = getelementptr inbounds i8, ptr %"b", i64 %".26"
  %".27" = add i64 %"p1", 3
  %".28" = udiv i64 %".27", 4
  %".29" = mul nsw i64 %".17", 4
  %".30" = sub i64 %"p1", %".29"
  %".31" = icmp slt i64 %".30", 4
  %".32" = select  i1 %".31", i64 %".30", i64 4
  %".33" = mul nsw i64 %".29", 8
  %"a.i1" = getelementptr inbounds i8, ptr %"a.i0", i64 %".33"
  %".34" = mul nsw i64 %"p3", 8
  %".35" = mul nsw i64 %".29", %".34"
  %"b.i1" = getelementptr inbounds i8, ptr %"b.i0", i64 %".35"
  br label %"i0.head"
task.done:
  ret void
i0.head:
  %"i0" = phi  i64 [0, %"task.body"], [%"i0.next", %"i1.tail.end"]
  %"i0.next" = add nsw i64 %"i0", 2
  %".37" = icmp sle i64 %"i0.next", %".23"
  br i1 %".37", label %"i0.body", label %"i0.done"
i0.body:
  %".39" = mul nsw i64 %"p2", 8
  %".40" = mul nsw i64 %"i0", %".39"
  %"a.i0.1" = getelementptr inbounds i8, ptr %"a.i1", i64 %".40"
  %".41" = mul nsw i64 %"i0", 8
  %"b.i0.1" = getelementptr inbounds i8, ptr %"b.i1", i64 %".41"
  br label %"i1.head"
i0.done:
  %".88" = sdiv i64 %".23", 2
  %"i0.whole" = mul i64 %".88", 2
  %"i0.rest" = sub i64 %".23", %"i0.whole"
  %".89" = icmp sgt i64 %"i0.rest", 0
  br i1 %".89", label %"i0.tail.then", label %"i0.tail.end"
i1.head:
  %"i1" = phi  i64 [0, %"i0.body"], [%"i1.next", %"i1.body"]
  %"i1.next" = add nsw i64 %"i1", 2
  %".43" = icmp sle i64 %"i1.next", %".32"
  br i1 %".43", label %"i1.body", label %"i1.done"
i1.body:
  %".45" = mul nsw i64 %"i1", 8
  %"a.i1.1" = getelementptr inbounds i8, ptr %"a.i0.1", i64 %".45"
  %".46" = mul nsw i64 %"p3", 8
  %".47" = mul nsw i64 %"i1", %".46"
  %"b.i1.1" = getelementptr inbounds i8, ptr %"b.i0.1", i64 %".47"
  %".48" = load <2 x double>, ptr %"a.i1.1", align 8
  %".49" = mul nsw i64 %"p2", 8
  %".50" = getelementptr inbounds i8, ptr %"a.i1.1", i64 %".49"
  %".51" = load <2 x double>, ptr %".50", align 8
  %".52" = shufflevector <2 x double> %".48", <2 x double> %".51", <2 x i32> <i32 0, i32 2>
  %".53" = shufflevector <2 x double> %".48", <2 x double> %".51", <2 x i32> <i32 1, i32 3>
  %".56" = fmul <2 x double> %".52", %".55"
  store <2 x double> %".56", ptr %"b.i1.1", align 8
  %".58" = mul nsw i64 %"p3", 8
  %".59" = getelementptr inbounds i8, ptr %"b.i1.1", i64 %".58"
  %".60" = fmul <2 x double> %".53", %".55"
  store <2 x double> %".60", ptr %".59", align 8
  br label %"i1.head"
i1.done:
  %".63" = sdiv i64 %".32", 2
  %"i1.whole" = mul i64 %".63", 2
  %"i1.rest" = sub i64 %".32", %"i1.whole"
  %".64" = icmp sgt i64 %"i1.rest", 0
  br i1 %".64", label %"i1.tail.then", label %"i1.tail.end"
i1.tail.then:
  %".66" = mul nsw i64 %"i1.whole", 8
  %"a.i1.2" = getelementptr inbounds i8, ptr %"a.i0.1", i64 %".66"
  %".67" = mul nsw i64 %"p3", 8
  %".68" = mul nsw i64 %"i1.whole", %".67"
  %"b.i1.2" = getelementptr inbounds i8, ptr %"b.i0.1", i64 %".68"
  br label %"i1.head.1"
i1.tail.end:
  br label %"i0.head"
i1.head.1:
  %"i1.1" = phi  i64 [0, %"i1.tail.then"], [%"i1.next.1", %"i1.body.1"]
  %"i1.next.1" = add nsw i64 %"i1.1", 1
  %".70" = icmp sle i64 %"i1.next.1", %"i1.rest"
  br i1 %".70", label %"i1.body.1", label %"i1.done.1"
i1.body.1:
  %".72" = sub i64 %"i1.rest", %"i1.1"
  %".73" = icmp slt i64 %".72", 1
  %".74" = select  i1 %".73", i64 %".72", i64 1
  %".75" = mul nsw i64 %"i1.1", 8
  %"a.i1.3" = getelementptr inbounds i8, ptr %"a.i1.2", i64 %".75"
  %".76" = mul nsw i64 %"p3", 8
  %".77" = mul nsw i64 %"i1.1", %".76"
  %"b.i1.3" = getelementptr inbounds i8, ptr %"b.i1.2", i64 %".77"
  %".78" = load <1 x double>, ptr %"a.i1.3", align 8
  %".79" = mul nsw i64 %"p2", 8
  %".80" = getelementptr inbounds i8, ptr %"a.i1.3", i64 %".79"
  %".81" = load <1 x double>, ptr %".80", align 8
  %".82" = shufflevector <1 x double> %".78", <1 x double> %".81", <2 x i32> <i32 0, i32 1>
  %".83" = fmul <2 x double> %".82", %".55"
  store <2 x double> %".83", ptr %"b.i1.3", align 8
  br label %"i1.head.1"
i1.done.1:
  br label %"i1.tail.end"
i0.tail.then:
  %".91" = mul nsw i64 %"p2", 8
  %".92" = mul nsw i64 %"i0.whole", %".91"
  %"a.i0.2" = getelementptr inbounds i8, ptr %"a.i1", i64 %".92"
  %".93" = mul nsw i64 %"i0.whole", 8
  %"b.i0.2" = getelementptr inbounds i8, ptr %"b.i1", i64 %".93"
  br label %"i0.head.1"
i0.tail.end:
  br label %"task.head"
i0.head.1:
  %"i0.1" = phi  i64 [0, %"i0.tail.then"], [%"i0.next.1", %"i1.tail.end.1"]
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  %".95" = icmp sle i64 %"i0.next.1", %"i0.rest"
  br i1 %".95", label %"i0.body.1", label %"i0.done.1"
i0.body.1:
  %".97" = sub i64 %"i0.rest", %"i0.1"
  %".98" = icmp slt i64 %".97", 1
  %".99" = select  i1 %".98", i64 %".97", i64 1
  %".100" = mul nsw i64 %"p2", 8
  %".101" = mul nsw i64 %"i0.1", %".100"
  %"a.i0.3" = getelementptr inbounds i8, ptr %"a.i0.2", i64 %".101"
  %".102" = mul nsw i64 %"i0.1", 8
  %"b.i0.3" = getelementptr inbounds i8, ptr %"b.i0.2", i64 %".102"
  br label %"i1.head.2"
i0.done.1:
  br label %"i0.tail.end"
i1.head.2:
  %"i1.2" = phi  i64 [0, %"i0.body.1"], [%"i1.next.2", %"i1.body.2"]
  %"i1.next.2" = add nsw i64 %"i1.2", 2
  %".104" = icmp sle i64 %"i1.next.2", %".32"
  br i1 %".104", label %"i1.body.2", label %"i1.done.2"
i1.body.2:
  %".106" = mul nsw i64 %"i1.2", 8
  %"a.i1.4" = getelementptr inbounds i8, ptr %"a.i0.3", i64 %".106"
  %".107" = mul nsw i64 %"p3", 8
  %".108" = mul nsw i64 %"i1.2", %".107"
  %"b.i1.4" = getelementptr inbounds i8, ptr %"b.i0.3", i64 %".108"
  %".109" = load <2 x double>, ptr %"a.i1.4", align 8
  %".110" = shufflevector <2 x double> %".109", <2 x double> %".109", <1 x i32> <i32 0>
  %".111" = shufflevector <2 x double> %".109", <2 x double> %".109", <1 x i32> <i32 1>
  %".114" = fmul <1 x double> %".110", %".113"
  store <1 x double> %".114", ptr %"b.i1.4", align 8
  %".116" = mul nsw i64 %"p3", 8
  %".117" = getelementptr inbounds i8, ptr %"b.i1.4", i64 %".116"
  %".118" = fmul <1 x double> %".111", %".113"
  store <1 x double> %".118", ptr %".117", align 8
  br label %"i1.head.2"
i1.done.2:
  %".121" = sdiv i64 %".32", 2
  %"i1.whole.1" = mul i64 %".121", 2
  %"i1.rest.1" = sub i64 %".32", %"i1.whole.1"
  %".122" = icmp sgt i64 %"i1.rest.1", 0
  br i1 %".122", label %"i1.tail.then.1", label %"i1.tail.end.1"
i1.tail.then.1:
  %".124" = mul nsw i64 %"i1.whole.1", 8
  %"a.i1.5" = getelementptr inbounds i8, ptr %"a.i0.3", i64 %".124"
  %".125" = mul nsw i64 %"p3", 8
  %".126" = mul nsw i64 %"i1.whole.1", %".125"
  %"b.i1.5" = getelementptr inbounds i8, ptr %"b.i0.3", i64 %".126"
  br label %"i1.head.3"
i1.tail.end.1:
  br label %"i0.head.1"
i1.head.3:
  %"i1.3" = phi  i64 [0, %"i1.tail.then.1"], [%"i1.next.3", %"i1.body.3"]
  %"i1.next.3" = add nsw i64 %"i1.3", 1
  %".128" = icmp sle i64 %"i1.next.3", %"i1.rest.1"
  br i1 %".128", label %"i1.body.3", label %"i1.done.3"
i1.body.3:
  %".130" = sub i64 %"i1.rest.1", %"i1.3"
  %".131" = icmp slt i64 %".130", 1
  %".132" = select  i1 %".131", i64 %".130", i64 1
  %".133" = mul nsw i64 %"i1.3", 8
  %"a.i1.6" = getelementptr inbounds i8, ptr %"a.i1.5", i64 %".133"
  %".134" = mul nsw i64 %"p3", 8
  %".135" = mul nsw i64 %"i1.3", %".134"
  %"b.i1.6" = getelementptr inbounds i8, ptr %"b.i1.5", i64 %".135"
  %".136" = load <1 x double>, ptr %"a.i1.6", align 8
  %".137" = fmul <1 x double> %".136", %".113"
  store <1 x double> %".137", ptr %"b.i1.6", align 8
  br label %"i1.head.3"
i1.done.3:
  br label %"i1.tail.end.1"
}
