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
  %"a.i1" = getelementptr inbounds i8, ptr %"a", i64 %".13"
  %".14" = mul nsw i64 %".12", 48
  %"b.i1" = getelementptr inbounds i8, ptr %"b", i64 %".14"
  br label %"i0.head"
task.done:
  ret void
i0.head:
  %"i0" = phi  i64 [0, %"task.body"], [%"i0.next", %"i0.done.1"]
  %"i0.next" = add nsw i64 %"i0", 8
  %".16" = icmp sle i64 %"i0.next", 19
  br i1 %".16", label %"i0.body", label %"i0.done"
i0.body:
  %".18" = sub i64 12, %"i0"
  %".19" = icmp slt i64 %".18", 8
  %".20" = select  i1 %".19", i64 %".18", i64 8
  %".21" = mul nsw i64 %"i0", 32
  %"a.i0" = getelementptr inbounds i8, ptr %"a.i1", i64 %".21"
  %".22" = mul nsw i64 %"i0", 4
  %"b.i0" = getelementptr inbounds i8, ptr %"b.i1", i64 %".22"
  br label %"i0.head.1"
i0.done:
  br label %"task.head"
i0.head.1:
  %"i0.1" = phi  i64 [0, %"i0.body"], [%"i0.next.1", %"i0.body.1"]
  %"i0.next.1" = add nsw i64 %"i0.1", 4
  %".24" = icmp sle i64 %"i0.next.1", %".20"
  br i1 %".24", label %"i0.body.1", label %"i0.done.1"
i0.body.1:
  %".26" = mul nsw i64 %"i0.1", 32
  %"a.i0.1" = getelementptr inbounds i8, ptr %"a.i0", i64 %".26"
  %".27" = mul nsw i64 %"i0.1", 4
  %"b.i0.1" = getelementptr inbounds i8, ptr %"b.i0", i64 %".27"
  %".28" = add i64 %"i0.1", 4
  %".29" = icmp sge i64 %".28", %".20"
  %".30" = sub i64 4, %".20"
  %".31" = select  i1 %".29", i64 %".30", i64 4
  %".32" = zext i1 %".29" to i64
  %".33" = mul nsw i64 %".32", 8
  %".34" = add i64 %"i0", %".33"
  %".35" = icmp sge i64 %".34", 12
  %".36" = sub i64 %".33", 16
  %".37" = select  i1 %".35", i64 %".36", i64 %".33"
  %".38" = zext i1 %".35" to i64
  %".39" = mul nsw i64 %".38", 4
  %".40" = add i64 %".12", %".39"
  %".41" = icmp sge i64 %".40", 8
  %".42" = sub i64 %".39", 8
  %".43" = select  i1 %".41", i64 %".42", i64 %".39"
  %".44" = zext i1 %".41" to i64
  %".45" = mul nsw i64 %".31", 32
  %".46" = mul nsw i64 %".37", 32
  %".47" = add nsw i64 %".45", %".46"
  %".48" = mul nsw i64 %".43", 4
  %".49" = add nsw i64 %".47", %".48"
  %".50" = getelementptr i8, ptr %"a.i0.1", i64 %".49"
  %".51" = freeze ptr %".50"
  %".52" = mul nsw i64 %".31", 4
  %".53" = mul nsw i64 %".37", 4
  %".54" = add nsw i64 %".52", %".53"
  %".55" = mul nsw i64 %".43", 48
  %".56" = add nsw i64 %".54", %".55"
  %".57" = getelementptr i8, ptr %"b.i0.1", i64 %".56"
  %".58" = freeze ptr %".57"
  %".59" = getelementptr i8, ptr %".51", i64 0
  call void @"llvm.prefetch.p0"(ptr %".59", i32 0, i32 3, i32 1)
  %".61" = getelementptr i8, ptr %".51", i64 12
  call void @"llvm.prefetch.p0"(ptr %".61", i32 0, i32 3, i32 1)
  %".63" = getelementptr i8, ptr %".51", i64 32
  call void @"llvm.prefetch.p0"(ptr %".63", i32 0, i32 3, i32 1)
  %".65" = getelementptr i8, ptr %".51", i64 44
  call void @"llvm.prefetch.p0"(ptr %".65", i32 0, i32 3, i32 1)
  %".67" = getelementptr i8, ptr %".51", i64 64
  call void @"llvm.prefetch.p0"(ptr %".67", i32 0, i32 3, i32 1)
  %".69" = getelementptr i8, ptr %".51", i64 76
  call void @"llvm.prefetch.p0"(ptr %".69", i32 0, i32 3, i32 1)
  %".71" = getelementptr i8, ptr %".51", i64 96
  call void @"llvm.prefetch.p0"(ptr %".71", i32 0, i32 3, i32 1)
  %".73" = getelementptr i8, ptr %".51", i64 108
  call void @"llvm.prefetch.p0"(ptr %".73", i32 0, i32 3, i32 1)
  %".75" = getelementptr i8, ptr %".58", i64 0
  call void @"llvm.prefetch.p0"(ptr %".75", i32 0, i32 3, i32 1)
  %".77" = getelementptr i8, ptr %".58", i64 12
  call void @"llvm.prefetch.p0"(ptr %".77", i32 0, i32 3, i32 1)
  %".79" = getelementptr i8, ptr %".58", i64 48
  call void @"llvm.prefetch.p0"(ptr %".79", i32 0, i32 3, i32 1)
  %".81" = getelementptr i8, ptr %".58", i64 60
  call void @"llvm.prefetch.p0"(ptr %".81", i32 0, i32 3, i32 1)
  %".83" = getelementptr i8, ptr %".58", i64 96
  call void @"llvm.prefetch.p0"(ptr %".83", i32 0, i32 3, i32 1)
  %".85" = getelementptr i8, ptr %".58", i64 108
  call void @"llvm.prefetch.p0"(ptr %".85", i32 0, i32 3, i32 1)
  %".87" = getelementptr i8, ptr %".58", i64 144
  call void @"llvm.prefetch.p0"(ptr %".87", i32 0, i32 3, i32 1)
  %".89" = getelementptr i8, ptr %".58", i64 156
  call void @"llvm.prefetch.p0"(ptr %".89", i32 0, i32 3, i32 1)
  %".91" = freeze ptr %"a.i0.1"
  %".92" = freeze ptr %"b.i0.1"
  %".93" = load <4 x float>, ptr %".91", align 1
  %".94" = getelementptr inbounds i8, ptr %".91", i64 32
  %".95" = load <4 x float>, ptr %".94", align 1
  %".96" = shufflevector <4 x float> %".93", <4 x float> %".95", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".97" = shufflevector <4 x float> %".93", <4 x float> %".95", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".98" = getelementptr inbounds i8, ptr %".91", i64 64
  %".99" = load <4 x float>, ptr %".98", align 1
  %".100" = getelementptr inbounds i8, ptr %".91", i64 96
  %".101" = load <4 x float>, ptr %".100", align 1
  %".102" = shufflevector <4 x float> %".99", <4 x float> %".101", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".103" = shufflevector <4 x float> %".99", <4 x float> %".101", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".104" = shufflevector <4 x float> %".96", <4 x float> %".102", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".105" = shufflevector <4 x float> %".96", <4 x float> %".102", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".104", ptr %".92", align 1
  %".107" = getelementptr inbounds i8, ptr %".92", i64 48
  store <4 x float> %".105", ptr %".107", align 1
  %".109" = getelementptr inbounds i8, ptr %".92", i64 96
  %".110" = shufflevector <4 x float> %".97", <4 x float> %".103", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".111" = shufflevector <4 x float> %".97", <4 x float> %".103", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".110", ptr %".109", align 1
  %".113" = getelementptr inbounds i8, ptr %".92", i64 144
  store <4 x float> %".111", ptr %".113", align 1
  br label %"i0.head.1"
i0.done.1:
  br label %"i0.head"
}

declare void @"llvm.prefetch.p0"(ptr %".1", i32 %".2", i32 %".3", i32 %".4")
