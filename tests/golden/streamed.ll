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
  %".12" = mul nsw i64 %"task", 8
  %".13" = mul nsw i64 %".12", 8
  %"a.i1" = getelementptr inbounds i8, ptr %"a", i64 %".13"
  %".14" = mul nsw i64 %".12", 128
  %"b.i1" = getelementptr inbounds i8, ptr %"b", i64 %".14"
  br label %"i0.head"
task.done:
  call void @"llvm.x86.sse.sfence"()
  ret void
i0.head:
  %"i0" = phi  i64 [0, %"task.body"], [%"i0.next", %"i0.done.2"]
  %"i0.next" = add nsw i64 %"i0", 8
  %".16" = icmp sle i64 %"i0.next", 16
  br i1 %".16", label %"i0.body", label %"i0.done"
i0.body:
  %".18" = mul nsw i64 %"i0", 128
  %"a.i0" = getelementptr inbounds i8, ptr %"a.i1", i64 %".18"
  %".19" = mul nsw i64 %"i0", 8
  %"b.i0" = getelementptr inbounds i8, ptr %"b.i1", i64 %".19"
  br label %"i0.head.1"
i0.done:
  br label %"task.head"
i0.head.1:
  %"i0.1" = phi  i64 [0, %"i0.body"], [%"i0.next.1", %"i0.body.1"]
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  %".21" = icmp sle i64 %"i0.next.1", 8
  br i1 %".21", label %"i0.body.1", label %"i0.done.1"
i0.body.1:
  %".23" = mul nsw i64 %"i0.1", 128
  %"a.i0.1" = getelementptr inbounds i8, ptr %"a.i0", i64 %".23"
  %".24" = mul nsw i64 %"i0.1", 8
  %"b.i0.1" = getelementptr inbounds i8, ptr %"b.i0", i64 %".24"
  %".25" = mul nsw i64 %"i0.1", 128
  %"scratch.i0" = getelementptr inbounds i8, ptr %"scratch", i64 %".25"
  %".26" = freeze ptr %"a.i0.1"
  %".27" = freeze ptr %"scratch.i0"
  %".28" = load <4 x double>, ptr %".26", align 1
  store <4 x double> %".28", ptr %".27", align 8
  %".30" = getelementptr inbounds i8, ptr %".27", i64 32
  %".31" = getelementptr inbounds i8, ptr %".26", i64 32
  %".32" = load <4 x double>, ptr %".31", align 1
  store <4 x double> %".32", ptr %".30", align 8
  br label %"i0.head.1"
i0.done.1:
  br label %"i0.head.2"
i0.head.2:
  %"i0.2" = phi  i64 [0, %"i0.done.1"], [%"i0.next.2", %"i1.done"]
  %"i0.next.2" = add nsw i64 %"i0.2", 4
  %".36" = icmp sle i64 %"i0.next.2", 8
  br i1 %".36", label %"i0.body.2", label %"i0.done.2"
i0.body.2:
  %".38" = mul nsw i64 %"i0.2", 128
  %"a.i0.2" = getelementptr inbounds i8, ptr %"a.i0", i64 %".38"
  %".39" = mul nsw i64 %"i0.2", 8
  %"b.i0.2" = getelementptr inbounds i8, ptr %"b.i0", i64 %".39"
  %".40" = mul nsw i64 %"i0.2", 128
  %"scratch.i0.1" = getelementptr inbounds i8, ptr %"scratch", i64 %".40"
  br label %"i1.head"
i0.done.2:
  br label %"i0.head"
i1.head:
  %"i1" = phi  i64 [0, %"i0.body.2"], [%"i1.next", %"i1.body"]
  %"i1.next" = add nsw i64 %"i1", 4
  %".42" = icmp sle i64 %"i1.next", 8
  br i1 %".42", label %"i1.body", label %"i1.done"
i1.body:
  %".44" = mul nsw i64 %"i1", 8
  %"a.i1.1" = getelementptr inbounds i8, ptr %"a.i0.2", i64 %".44"
  %".45" = mul nsw i64 %"i1", 128
  %"b.i1.1" = getelementptr inbounds i8, ptr %"b.i0.2", i64 %".45"
  %".46" = mul nsw i64 %"i1", 8
  %"scratch.i1" = getelementptr inbounds i8, ptr %"scratch.i0.1", i64 %".46"
  %".47" = freeze ptr %"scratch.i1"
  %".48" = freeze ptr %"b.i1.1"
  %".49" = getelementptr inbounds i8, ptr %".47", i64 256
  %".50" = load <2 x double>, ptr %".47", align 8
  %".51" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".50", i64 0)
  %".52" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".51")
  %".53" = load <2 x double>, ptr %".49", align 8
  %".54" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".52", <2 x double> %".53", i64 2)
  %".55" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".54")
  %".56" = getelementptr inbounds i8, ptr %".47", i64 16
  %".57" = getelementptr inbounds i8, ptr %".49", i64 16
  %".58" = load <2 x double>, ptr %".56", align 8
  %".59" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".58", i64 0)
  %".60" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".59")
  %".61" = load <2 x double>, ptr %".57", align 8
  %".62" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".60", <2 x double> %".61", i64 2)
  %".63" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".62")
  %".64" = getelementptr inbounds i8, ptr %".47", i64 128
  %".65" = getelementptr inbounds i8, ptr %".47", i64 384
  %".66" = load <2 x double>, ptr %".64", align 8
  %".67" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".66", i64 0)
  %".68" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".67")
  %".69" = load <2 x double>, ptr %".65", align 8
  %".70" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".68", <2 x double> %".69", i64 2)
  %".71" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".70")
  %".72" = getelementptr inbounds i8, ptr %".64", i64 16
  %".73" = getelementptr inbounds i8, ptr %".65", i64 16
  %".74" = load <2 x double>, ptr %".72", align 8
  %".75" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".74", i64 0)
  %".76" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".75")
  %".77" = load <2 x double>, ptr %".73", align 8
  %".78" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".76", <2 x double> %".77", i64 2)
  %".79" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".78")
  %".80" = shufflevector <4 x double> %".55", <4 x double> %".71", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".81" = shufflevector <4 x double> %".55", <4 x double> %".71", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  store <4 x double> %".80", ptr %".48", align 32, !nontemporal !0
  %".83" = getelementptr inbounds i8, ptr %".48", i64 128
  store <4 x double> %".81", ptr %".83", align 32, !nontemporal !0
  %".85" = getelementptr inbounds i8, ptr %".48", i64 256
  %".86" = shufflevector <4 x double> %".63", <4 x double> %".79", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".87" = shufflevector <4 x double> %".63", <4 x double> %".79", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  store <4 x double> %".86", ptr %".85", align 32, !nontemporal !0
  %".89" = getelementptr inbounds i8, ptr %".48", i64 384
  store <4 x double> %".87", ptr %".89", align 32, !nontemporal !0
  br label %"i1.head"
i1.done:
  br label %"i0.head.2"
}

declare <4 x double> @"llvm.vector.insert.v4f64.v2f64"(<4 x double> %".1", <2 x double> %".2", i64 %".3")

declare <4 x double> @"llvm.arithmetic.fence.v4f64"(<4 x double> %".1")

declare void @"llvm.x86.sse.sfence"()

!0 = !{ i32 1 }