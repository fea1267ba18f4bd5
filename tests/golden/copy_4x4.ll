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
  %".61" = getelementptr i8, ptr %".51", i64 32
  call void @"llvm.prefetch.p0"(ptr %".61", i32 0, i32 3, i32 1)
  %".63" = getelementptr i8, ptr %".51", i64 64
  call void @"llvm.prefetch.p0"(ptr %".63", i32 0, i32 3, i32 1)
  %".65" = getelementptr i8, ptr %".51", i64 96
  call void @"llvm.prefetch.p0"(ptr %".65", i32 0, i32 3, i32 1)
  %".67" = getelementptr i8, ptr %".58", i64 0
  call void @"llvm.prefetch.p0"(ptr %".67", i32 0, i32 3, i32 1)
  %".69" = getelementptr i8, ptr %".58", i64 48
  call void @"llvm.prefetch.p0"(ptr %".69", i32 0, i32 3, i32 1)
  %".71" = getelementptr i8, ptr %".58", i64 96
  call void @"llvm.prefetch.p0"(ptr %".71", i32 0, i32 3, i32 1)
  %".73" = getelementptr i8, ptr %".58", i64 144
  call void @"llvm.prefetch.p0"(ptr %".73", i32 0, i32 3, i32 1)
  %".75" = freeze ptr %"a.i0.1"
  %".76" = freeze ptr %"b.i0.1"
  %".77" = load <4 x float>, ptr %".75", align 1
  %".78" = getelementptr inbounds i8, ptr %".75", i64 32
  %".79" = load <4 x float>, ptr %".78", align 1
  %".80" = shufflevector <4 x float> %".77", <4 x float> %".79", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".81" = shufflevector <4 x float> %".77", <4 x float> %".79", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".82" = getelementptr inbounds i8, ptr %".75", i64 64
  %".83" = load <4 x float>, ptr %".82", align 1
  %".84" = getelementptr inbounds i8, ptr %".75", i64 96
  %".85" = load <4 x float>, ptr %".84", align 1
  %".86" = shufflevector <4 x float> %".83", <4 x float> %".85", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".87" = shufflevector <4 x float> %".83", <4 x float> %".85", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".88" = shufflevector <4 x float> %".80", <4 x float> %".86", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".89" = shufflevector <4 x float> %".80", <4 x float> %".86", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".88", ptr %".76", align 1
  %".91" = getelementptr inbounds i8, ptr %".76", i64 48
  store <4 x float> %".89", ptr %".91", align 1
  %".93" = getelementptr inbounds i8, ptr %".76", i64 96
  %".94" = shufflevector <4 x float> %".81", <4 x float> %".87", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".95" = shufflevector <4 x float> %".81", <4 x float> %".87", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".94", ptr %".93", align 1
  %".97" = getelementptr inbounds i8, ptr %".76", i64 144
  store <4 x float> %".95", ptr %".97", align 1
  br label %"i0.head.1"
i0.done.1:
  br label %"i0.head"
}

declare void @"llvm.prefetch.p0"(ptr %".1", i32 %".2", i32 %".3", i32 %".4")
