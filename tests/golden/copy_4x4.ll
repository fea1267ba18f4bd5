; ModuleID = "ttc_llvm"
target triple = "x86_64-unknown-linux-gnu"
target datalayout = ""

define void @"kernel"(ptr noalias %"a", ptr noalias %"b", ptr %"scalars", ptr %"params", ptr noalias %"scratch", i64 %"begin", i64 %"end") nounwind
{
entry:
  br label %"task.head"
task.head:
  %"task" = phi  i64 [%"begin", %"entry"], [%"task.next", %"i0.done"]
  %"task.next" = add nsw i64 %"task", 1
  %".10" = icmp sle i64 %"task.next", %"end"
  br i1 %".10", label %"task.body", label %"task.done"
task.body:
  %".12" = mul nsw i64 %"task", 4
  %".13" = mul nsw i64 %".12", 4
  %".14" = getelementptr inbounds i8, ptr %"a", i64 %".13"
  %"a.i1" = freeze ptr %".14"
  %".15" = mul nsw i64 %".12", 48
  %".16" = getelementptr inbounds i8, ptr %"b", i64 %".15"
  %"b.i1" = freeze ptr %".16"
  br label %"i0.head"
task.done:
  ret void
i0.head:
  %"i0" = phi  i64 [0, %"task.body"], [%"i0.next", %"i0.done.1"]
  %"i0.next" = add nsw i64 %"i0", 8
  %".18" = icmp sle i64 %"i0.next", 19
  br i1 %".18", label %"i0.body", label %"i0.done"
i0.body:
  %".20" = sub i64 12, %"i0"
  %".21" = icmp slt i64 %".20", 8
  %".22" = select  i1 %".21", i64 %".20", i64 8
  %".23" = mul nsw i64 %"i0", 32
  %".24" = getelementptr inbounds i8, ptr %"a.i1", i64 %".23"
  %"a.i0" = freeze ptr %".24"
  %".25" = mul nsw i64 %"i0", 4
  %".26" = getelementptr inbounds i8, ptr %"b.i1", i64 %".25"
  %"b.i0" = freeze ptr %".26"
  br label %"i0.head.1"
i0.done:
  br label %"task.head"
i0.head.1:
  %"i0.1" = phi  i64 [0, %"i0.body"], [%"i0.next.1", %"i0.body.1"]
  %"i0.next.1" = add nsw i64 %"i0.1", 4
  %".28" = icmp sle i64 %"i0.next.1", %".22"
  br i1 %".28", label %"i0.body.1", label %"i0.done.1"
i0.body.1:
  %".30" = mul nsw i64 %"i0.1", 32
  %".31" = getelementptr inbounds i8, ptr %"a.i0", i64 %".30"
  %"a.i0.1" = freeze ptr %".31"
  %".32" = mul nsw i64 %"i0.1", 4
  %".33" = getelementptr inbounds i8, ptr %"b.i0", i64 %".32"
  %"b.i0.1" = freeze ptr %".33"
  %".34" = add i64 %"i0.1", 4
  %".35" = icmp sge i64 %".34", %".22"
  %".36" = sub i64 4, %".22"
  %".37" = select i1 %".35", i64 %".36", i64 4
  %".38" = zext i1 %".35" to i64
  %".39" = mul nsw i64 %".38", 8
  %".40" = add i64 %"i0", %".39"
  %".41" = icmp sge i64 %".40", 12
  %".42" = sub i64 %".39", 16
  %".43" = select i1 %".41", i64 %".42", i64 %".39"
  %".44" = zext i1 %".41" to i64
  %".45" = mul nsw i64 %".44", 4
  %".46" = add i64 %".12", %".45"
  %".47" = icmp sge i64 %".46", 8
  %".48" = sub i64 %".45", 8
  %".49" = select i1 %".47", i64 %".48", i64 %".45"
  %".50" = zext i1 %".47" to i64
  %".51" = mul nsw i64 %".37", 32
  %".52" = mul nsw i64 %".43", 32
  %".53" = add nsw i64 %".51", %".52"
  %".54" = mul nsw i64 %".49", 4
  %".55" = add nsw i64 %".53", %".54"
  %".56" = getelementptr i8, ptr %"a.i0.1", i64 %".55"
  %".57" = freeze ptr %".56"
  %".58" = mul nsw i64 %".37", 4
  %".59" = mul nsw i64 %".43", 4
  %".60" = add nsw i64 %".58", %".59"
  %".61" = mul nsw i64 %".49", 48
  %".62" = add nsw i64 %".60", %".61"
  %".63" = getelementptr i8, ptr %"b.i0.1", i64 %".62"
  %".64" = freeze ptr %".63"
  %".65" = getelementptr i8, ptr %".57", i64 0
  call void @"llvm.prefetch.p0"(ptr %".65", i32 0, i32 3, i32 1)
  %".67" = getelementptr i8, ptr %".57", i64 12
  call void @"llvm.prefetch.p0"(ptr %".67", i32 0, i32 3, i32 1)
  %".69" = getelementptr i8, ptr %".57", i64 32
  call void @"llvm.prefetch.p0"(ptr %".69", i32 0, i32 3, i32 1)
  %".71" = getelementptr i8, ptr %".57", i64 44
  call void @"llvm.prefetch.p0"(ptr %".71", i32 0, i32 3, i32 1)
  %".73" = getelementptr i8, ptr %".57", i64 64
  call void @"llvm.prefetch.p0"(ptr %".73", i32 0, i32 3, i32 1)
  %".75" = getelementptr i8, ptr %".57", i64 76
  call void @"llvm.prefetch.p0"(ptr %".75", i32 0, i32 3, i32 1)
  %".77" = getelementptr i8, ptr %".57", i64 96
  call void @"llvm.prefetch.p0"(ptr %".77", i32 0, i32 3, i32 1)
  %".79" = getelementptr i8, ptr %".57", i64 108
  call void @"llvm.prefetch.p0"(ptr %".79", i32 0, i32 3, i32 1)
  %".81" = getelementptr i8, ptr %".64", i64 0
  call void @"llvm.prefetch.p0"(ptr %".81", i32 0, i32 3, i32 1)
  %".83" = getelementptr i8, ptr %".64", i64 12
  call void @"llvm.prefetch.p0"(ptr %".83", i32 0, i32 3, i32 1)
  %".85" = getelementptr i8, ptr %".64", i64 48
  call void @"llvm.prefetch.p0"(ptr %".85", i32 0, i32 3, i32 1)
  %".87" = getelementptr i8, ptr %".64", i64 60
  call void @"llvm.prefetch.p0"(ptr %".87", i32 0, i32 3, i32 1)
  %".89" = getelementptr i8, ptr %".64", i64 96
  call void @"llvm.prefetch.p0"(ptr %".89", i32 0, i32 3, i32 1)
  %".91" = getelementptr i8, ptr %".64", i64 108
  call void @"llvm.prefetch.p0"(ptr %".91", i32 0, i32 3, i32 1)
  %".93" = getelementptr i8, ptr %".64", i64 144
  call void @"llvm.prefetch.p0"(ptr %".93", i32 0, i32 3, i32 1)
  %".95" = getelementptr i8, ptr %".64", i64 156
  call void @"llvm.prefetch.p0"(ptr %".95", i32 0, i32 3, i32 1)
  %".97" = load <4 x float>, ptr %"a.i0.1", align 1
  %".98" = getelementptr inbounds i8, ptr %"a.i0.1", i64 32
  %".99" = load <4 x float>, ptr %".98", align 1
  %".100" = shufflevector <4 x float> %".97", <4 x float> %".99", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".101" = shufflevector <4 x float> %".97", <4 x float> %".99", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".102" = getelementptr inbounds i8, ptr %"a.i0.1", i64 64
  %".103" = load <4 x float>, ptr %".102", align 1
  %".104" = getelementptr inbounds i8, ptr %"a.i0.1", i64 96
  %".105" = load <4 x float>, ptr %".104", align 1
  %".106" = shufflevector <4 x float> %".103", <4 x float> %".105", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".107" = shufflevector <4 x float> %".103", <4 x float> %".105", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".108" = shufflevector <4 x float> %".100", <4 x float> %".106", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".109" = shufflevector <4 x float> %".100", <4 x float> %".106", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".108", ptr %"b.i0.1", align 1
  %".111" = getelementptr inbounds i8, ptr %"b.i0.1", i64 48
  store <4 x float> %".109", ptr %".111", align 1
  %".113" = getelementptr inbounds i8, ptr %"b.i0.1", i64 96
  %".114" = shufflevector <4 x float> %".101", <4 x float> %".107", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".115" = shufflevector <4 x float> %".101", <4 x float> %".107", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".114", ptr %".113", align 1
  %".117" = getelementptr inbounds i8, ptr %"b.i0.1", i64 144
  store <4 x float> %".115", ptr %".117", align 1
  br label %"i0.head.1"
i0.done.1:
  br label %"i0.head"
}

declare void @"llvm.prefetch.p0"(ptr %".1", i32 %".2", i32 %".3", i32 %".4")
