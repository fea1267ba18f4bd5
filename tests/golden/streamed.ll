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
  %".49" = load <4 x double>, ptr %".47", align 8
  %".50" = getelementptr inbounds i8, ptr %".47", i64 128
  %".51" = load <4 x double>, ptr %".50", align 8
  %".52" = shufflevector <4 x double> %".49", <4 x double> %".51", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".53" = shufflevector <4 x double> %".49", <4 x double> %".51", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %".54" = getelementptr inbounds i8, ptr %".47", i64 256
  %".55" = load <4 x double>, ptr %".54", align 8
  %".56" = getelementptr inbounds i8, ptr %".47", i64 384
  %".57" = load <4 x double>, ptr %".56", align 8
  %".58" = shufflevector <4 x double> %".55", <4 x double> %".57", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".59" = shufflevector <4 x double> %".55", <4 x double> %".57", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %".60" = shufflevector <4 x double> %".52", <4 x double> %".58", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".61" = shufflevector <4 x double> %".52", <4 x double> %".58", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x double> %".60", ptr %".48", align 32, !nontemporal !0
  %".63" = getelementptr inbounds i8, ptr %".48", i64 128
  %".64" = shufflevector <4 x double> %".53", <4 x double> %".59", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".65" = shufflevector <4 x double> %".53", <4 x double> %".59", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x double> %".64", ptr %".63", align 32, !nontemporal !0
  %".67" = getelementptr inbounds i8, ptr %".48", i64 256
  store <4 x double> %".61", ptr %".67", align 32, !nontemporal !0
  %".69" = getelementptr inbounds i8, ptr %".48", i64 384
  store <4 x double> %".65", ptr %".69", align 32, !nontemporal !0
  br label %"i1.head"
i1.done:
  br label %"i0.head.2"
}

declare void @"llvm.x86.sse.sfence"()

!0 = !{ i32 1 }