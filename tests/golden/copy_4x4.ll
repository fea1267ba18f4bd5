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
  %".39" = mul nsw i64 %".31", 32
  %".40" = mul nsw i64 %".37", 32
  %".41" = add nsw i64 %".39", %".40"
  %".42" = mul nsw i64 %".31", 4
  %".43" = mul nsw i64 %".37", 4
  %".44" = add nsw i64 %".42", %".43"
  %".45" = freeze ptr %"a.i0.1"
  %".46" = freeze ptr %"b.i0.1"
  %".47" = getelementptr i8, ptr %".45", i64 %".41"
  %".48" = freeze ptr %".47"
  call void @"llvm.prefetch.p0"(ptr %".48", i32 0, i32 3, i32 1)
  %".50" = getelementptr inbounds i8, ptr %".48", i64 32
  call void @"llvm.prefetch.p0"(ptr %".50", i32 0, i32 3, i32 1)
  %".52" = getelementptr inbounds i8, ptr %".48", i64 64
  call void @"llvm.prefetch.p0"(ptr %".52", i32 0, i32 3, i32 1)
  %".54" = getelementptr inbounds i8, ptr %".48", i64 96
  call void @"llvm.prefetch.p0"(ptr %".54", i32 0, i32 3, i32 1)
  %".56" = load <4 x float>, ptr %".45", align 1
  %".57" = getelementptr inbounds i8, ptr %".45", i64 32
  %".58" = load <4 x float>, ptr %".57", align 1
  %".59" = shufflevector <4 x float> %".56", <4 x float> %".58", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".60" = shufflevector <4 x float> %".56", <4 x float> %".58", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".61" = getelementptr inbounds i8, ptr %".45", i64 64
  %".62" = load <4 x float>, ptr %".61", align 1
  %".63" = getelementptr inbounds i8, ptr %".45", i64 96
  %".64" = load <4 x float>, ptr %".63", align 1
  %".65" = shufflevector <4 x float> %".62", <4 x float> %".64", <4 x i32> <i32 0, i32 4, i32 1, i32 5>
  %".66" = shufflevector <4 x float> %".62", <4 x float> %".64", <4 x i32> <i32 2, i32 6, i32 3, i32 7>
  %".67" = shufflevector <4 x float> %".59", <4 x float> %".65", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".68" = shufflevector <4 x float> %".59", <4 x float> %".65", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".67", ptr %".46", align 1
  %".70" = getelementptr inbounds i8, ptr %".46", i64 48
  store <4 x float> %".68", ptr %".70", align 1
  %".72" = getelementptr inbounds i8, ptr %".46", i64 96
  %".73" = shufflevector <4 x float> %".60", <4 x float> %".66", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".74" = shufflevector <4 x float> %".60", <4 x float> %".66", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x float> %".73", ptr %".72", align 1
  %".76" = getelementptr inbounds i8, ptr %".46", i64 144
  store <4 x float> %".74", ptr %".76", align 1
  br label %"i0.head.1"
i0.done.1:
  br label %"i0.head"
}

declare void @"llvm.prefetch.p0"(ptr %".1", i32 %".2", i32 %".3", i32 %".4")
