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
  %".56" = insertelement <2 x double> <double undef, double undef>, double %"alpha0", i32 0
  %".57" = shufflevector <2 x double> %".56", <2 x double> <double undef, double undef>, <2 x i32> <i32 0, i32 0>
  %".118" = insertelement <1 x double> <double undef>, double %"alpha0", i32 0
  %".119" = shufflevector <1 x double> %".118", <1 x double> <double undef>, <1 x i32> <i32 0>
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
  %".92" = sdiv i64 %".23", 2
  %"i0.whole" = mul i64 %".92", 2
  %"i0.rest" = sub i64 %".23", %"i0.whole"
  %".93" = icmp sgt i64 %"i0.rest", 0
  br i1 %".93", label %"i0.tail.then", label %"i0.tail.end"
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
  %".48" = freeze ptr %"a.i1.1"
  %".49" = freeze ptr %"b.i1.1"
  %".50" = load <2 x double>, ptr %".48", align 1
  %".51" = mul nsw i64 %"p2", 8
  %".52" = getelementptr inbounds i8, ptr %".48", i64 %".51"
  %".53" = load <2 x double>, ptr %".52", align 1
  %".54" = shufflevector <2 x double> %".50", <2 x double> %".53", <2 x i32> <i32 0, i32 2>
  %".55" = shufflevector <2 x double> %".50", <2 x double> %".53", <2 x i32> <i32 1, i32 3>
  %".58" = fmul <2 x double> %".54", %".57"
  store <2 x double> %".58", ptr %".49", align 1
  %".60" = mul nsw i64 %"p3", 8
  %".61" = getelementptr inbounds i8, ptr %".49", i64 %".60"
  %".62" = fmul <2 x double> %".55", %".57"
  store <2 x double> %".62", ptr %".61", align 1
  br label %"i1.head"
i1.done:
  %".65" = sdiv i64 %".32", 2
  %"i1.whole" = mul i64 %".65", 2
  %"i1.rest" = sub i64 %".32", %"i1.whole"
  %".66" = icmp sgt i64 %"i1.rest", 0
  br i1 %".66", label %"i1.tail.then", label %"i1.tail.end"
i1.tail.then:
  %".68" = mul nsw i64 %"i1.whole", 8
  %"a.i1.2" = getelementptr inbounds i8, ptr %"a.i0.1", i64 %".68"
  %".69" = mul nsw i64 %"p3", 8
  %".70" = mul nsw i64 %"i1.whole", %".69"
  %"b.i1.2" = getelementptr inbounds i8, ptr %"b.i0.1", i64 %".70"
  br label %"i1.head.1"
i1.tail.end:
  br label %"i0.head"
i1.head.1:
  %"i1.1" = phi  i64 [0, %"i1.tail.then"], [%"i1.next.1", %"i1.body.1"]
  %"i1.next.1" = add nsw i64 %"i1.1", 1
  %".72" = icmp sle i64 %"i1.next.1", %"i1.rest"
  br i1 %".72", label %"i1.body.1", label %"i1.done.1"
i1.body.1:
  %".74" = sub i64 %"i1.rest", %"i1.1"
  %".75" = icmp slt i64 %".74", 1
  %".76" = select  i1 %".75", i64 %".74", i64 1
  %".77" = mul nsw i64 %"i1.1", 8
  %"a.i1.3" = getelementptr inbounds i8, ptr %"a.i1.2", i64 %".77"
  %".78" = mul nsw i64 %"p3", 8
  %".79" = mul nsw i64 %"i1.1", %".78"
  %"b.i1.3" = getelementptr inbounds i8, ptr %"b.i1.2", i64 %".79"
  %".80" = freeze ptr %"a.i1.3"
  %".81" = freeze ptr %"b.i1.3"
  %".82" = load <1 x double>, ptr %".80", align 1
  %".83" = mul nsw i64 %"p2", 8
  %".84" = getelementptr inbounds i8, ptr %".80", i64 %".83"
  %".85" = load <1 x double>, ptr %".84", align 1
  %".86" = shufflevector <1 x double> %".82", <1 x double> %".85", <2 x i32> <i32 0, i32 1>
  %".87" = fmul <2 x double> %".86", %".57"
  store <2 x double> %".87", ptr %".81", align 1
  br label %"i1.head.1"
i1.done.1:
  br label %"i1.tail.end"
i0.tail.then:
  %".95" = mul nsw i64 %"p2", 8
  %".96" = mul nsw i64 %"i0.whole", %".95"
  %"a.i0.2" = getelementptr inbounds i8, ptr %"a.i1", i64 %".96"
  %".97" = mul nsw i64 %"i0.whole", 8
  %"b.i0.2" = getelementptr inbounds i8, ptr %"b.i1", i64 %".97"
  br label %"i0.head.1"
i0.tail.end:
  br label %"task.head"
i0.head.1:
  %"i0.1" = phi  i64 [0, %"i0.tail.then"], [%"i0.next.1", %"i1.tail.end.1"]
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  %".99" = icmp sle i64 %"i0.next.1", %"i0.rest"
  br i1 %".99", label %"i0.body.1", label %"i0.done.1"
i0.body.1:
  %".101" = sub i64 %"i0.rest", %"i0.1"
  %".102" = icmp slt i64 %".101", 1
  %".103" = select  i1 %".102", i64 %".101", i64 1
  %".104" = mul nsw i64 %"p2", 8
  %".105" = mul nsw i64 %"i0.1", %".104"
  %"a.i0.3" = getelementptr inbounds i8, ptr %"a.i0.2", i64 %".105"
  %".106" = mul nsw i64 %"i0.1", 8
  %"b.i0.3" = getelementptr inbounds i8, ptr %"b.i0.2", i64 %".106"
  br label %"i1.head.2"
i0.done.1:
  br label %"i0.tail.end"
i1.head.2:
  %"i1.2" = phi  i64 [0, %"i0.body.1"], [%"i1.next.2", %"i1.body.2"]
  %"i1.next.2" = add nsw i64 %"i1.2", 2
  %".108" = icmp sle i64 %"i1.next.2", %".32"
  br i1 %".108", label %"i1.body.2", label %"i1.done.2"
i1.body.2:
  %".110" = mul nsw i64 %"i1.2", 8
  %"a.i1.4" = getelementptr inbounds i8, ptr %"a.i0.3", i64 %".110"
  %".111" = mul nsw i64 %"p3", 8
  %".112" = mul nsw i64 %"i1.2", %".111"
  %"b.i1.4" = getelementptr inbounds i8, ptr %"b.i0.3", i64 %".112"
  %".113" = freeze ptr %"a.i1.4"
  %".114" = freeze ptr %"b.i1.4"
  %".115" = load <2 x double>, ptr %".113", align 1
  %".116" = shufflevector <2 x double> %".115", <2 x double> %".115", <1 x i32> <i32 0>
  %".117" = shufflevector <2 x double> %".115", <2 x double> %".115", <1 x i32> <i32 1>
  %".120" = fmul <1 x double> %".116", %".119"
  store <1 x double> %".120", ptr %".114", align 1
  %".122" = mul nsw i64 %"p3", 8
  %".123" = getelementptr inbounds i8, ptr %".114", i64 %".122"
  %".124" = fmul <1 x double> %".117", %".119"
  store <1 x double> %".124", ptr %".123", align 1
  br label %"i1.head.2"
i1.done.2:
  %".127" = sdiv i64 %".32", 2
  %"i1.whole.1" = mul i64 %".127", 2
  %"i1.rest.1" = sub i64 %".32", %"i1.whole.1"
  %".128" = icmp sgt i64 %"i1.rest.1", 0
  br i1 %".128", label %"i1.tail.then.1", label %"i1.tail.end.1"
i1.tail.then.1:
  %".130" = mul nsw i64 %"i1.whole.1", 8
  %"a.i1.5" = getelementptr inbounds i8, ptr %"a.i0.3", i64 %".130"
  %".131" = mul nsw i64 %"p3", 8
  %".132" = mul nsw i64 %"i1.whole.1", %".131"
  %"b.i1.5" = getelementptr inbounds i8, ptr %"b.i0.3", i64 %".132"
  br label %"i1.head.3"
i1.tail.end.1:
  br label %"i0.head.1"
i1.head.3:
  %"i1.3" = phi  i64 [0, %"i1.tail.then.1"], [%"i1.next.3", %"i1.body.3"]
  %"i1.next.3" = add nsw i64 %"i1.3", 1
  %".134" = icmp sle i64 %"i1.next.3", %"i1.rest.1"
  br i1 %".134", label %"i1.body.3", label %"i1.done.3"
i1.body.3:
  %".136" = sub i64 %"i1.rest.1", %"i1.3"
  %".137" = icmp slt i64 %".136", 1
  %".138" = select  i1 %".137", i64 %".136", i64 1
  %".139" = mul nsw i64 %"i1.3", 8
  %"a.i1.6" = getelementptr inbounds i8, ptr %"a.i1.5", i64 %".139"
  %".140" = mul nsw i64 %"p3", 8
  %".141" = mul nsw i64 %"i1.3", %".140"
  %"b.i1.6" = getelementptr inbounds i8, ptr %"b.i1.5", i64 %".141"
  %".142" = freeze ptr %"a.i1.6"
  %".143" = freeze ptr %"b.i1.6"
  %".144" = load <1 x double>, ptr %".142", align 1
  %".145" = fmul <1 x double> %".144", %".119"
  store <1 x double> %".145", ptr %".143", align 1
  br label %"i1.head.3"
i1.done.3:
  br label %"i1.tail.end.1"
}
