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
  %".52" = getelementptr i8, ptr %".51", i64 0
  call void @"llvm.prefetch.p0"(ptr %".52", i32 0, i32 3, i32 1)
  %".54" = getelementptr i8, ptr %".51", i64 32
  call void @"llvm.prefetch.p0"(ptr %".54", i32 0, i32 3, i32 1)
  %".56" = getelementptr i8, ptr %".51", i64 64
  call void @"llvm.prefetch.p0"(ptr %".56", i32 0, i32 3, i32 1)
  %".58" = getelementptr i8, ptr %".51", i64 96
  call void @"llvm.prefetch.p0"(ptr %".58", i32 0, i32 3, i32 1)
  %".60" = freeze ptr %"a.i0.1"
  %".61" = freeze ptr %"b.i0.1"
  %".62" = load <4 x float>, ptr %".60", align 1
  %".63" = getelementptr inbounds i8, ptr %".60", i64 32
  %".64" = load <4 x float>, ptr %".63", align 1
  %".65" = shufflevector <4 x float> %".62", <4 x float> %".64", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".66" = shufflevector <4 x float> %".62", <4 x float> %".64", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".67" = getelementptr inbounds i8, ptr %".60", i64 64
  %".68" = load <4 x float>, ptr %".67", align 1
  %".69" = getelementptr inbounds i8, ptr %".60", i64 96
  %".70" = load <4 x float>, ptr %".69", align 1
  %".71" = shufflevector <4 x float> %".68", <4 x float> %".70", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".72" = shufflevector <4 x float> %".68", <4 x float> %".70", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".73" = shufflevector <4 x float> %".65", <4 x float> %".71", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".74" = shufflevector <4 x float> %".65", <4 x float> %".71", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".73", ptr %".61", align 1
  %".76" = getelementptr inbounds i8, ptr %".61", i64 48
  store <4 x float> %".74", ptr %".76", align 1
  %".78" = getelementptr inbounds i8, ptr %".61", i64 96
  %".79" = shufflevector <4 x float> %".66", <4 x float> %".72", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".80" = shufflevector <4 x float> %".66", <4 x float> %".72", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".79", ptr %".78", align 1
  %".82" = getelementptr inbounds i8, ptr %".61", i64 144
  store <4 x float> %".80", ptr %".82", align 1
  br label %"i0.head.1"
i0.done.1:
  br label %"i0.head"
}

declare void @"llvm.prefetch.p0"(ptr %".1", i32 %".2", i32 %".3", i32 %".4")
