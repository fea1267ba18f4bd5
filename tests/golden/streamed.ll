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
  %".26" = load <4 x double>, ptr %"a.i0.1", align 8
  store <4 x double> %".26", ptr %"scratch.i0", align 8
  %".28" = getelementptr inbounds i8, ptr %"scratch.i0", i64 32
  %".29" = getelementptr inbounds i8, ptr %"a.i0.1", i64 32
  %".30" = load <4 x double>, ptr %".29", align 8
  store <4 x double> %".30", ptr %".28", align 8
  br label %"i0.head.1"
i0.done.1:
  br label %"i0.head.2"
i0.head.2:
  %"i0.2" = phi  i64 [0, %"i0.done.1"], [%"i0.next.2", %"i1.done"]
  %"i0.next.2" = add nsw i64 %"i0.2", 4
  %".34" = icmp sle i64 %"i0.next.2", 8
  br i1 %".34", label %"i0.body.2", label %"i0.done.2"
i0.body.2:
  %".36" = mul nsw i64 %"i0.2", 128
  %"a.i0.2" = getelementptr inbounds i8, ptr %"a.i0", i64 %".36"
  %".37" = mul nsw i64 %"i0.2", 8
  %"b.i0.2" = getelementptr inbounds i8, ptr %"b.i0", i64 %".37"
  %".38" = mul nsw i64 %"i0.2", 128
  %"scratch.i0.1" = getelementptr inbounds i8, ptr %"scratch", i64 %".38"
  br label %"i1.head"
i0.done.2:
  br label %"i0.head"
i1.head:
  %"i1" = phi  i64 [0, %"i0.body.2"], [%"i1.next", %"i1.body"]
  %"i1.next" = add nsw i64 %"i1", 4
  %".40" = icmp sle i64 %"i1.next", 8
  br i1 %".40", label %"i1.body", label %"i1.done"
i1.body:
  %".42" = mul nsw i64 %"i1", 8
  %"a.i1.1" = getelementptr inbounds i8, ptr %"a.i0.2", i64 %".42"
  %".43" = mul nsw i64 %"i1", 128
  %"b.i1.1" = getelementptr inbounds i8, ptr %"b.i0.2", i64 %".43"
  %".44" = mul nsw i64 %"i1", 8
  %"scratch.i1" = getelementptr inbounds i8, ptr %"scratch.i0.1", i64 %".44"
  %".45" = load <4 x double>, ptr %"scratch.i1", align 8
  %".46" = getelementptr inbounds i8, ptr %"scratch.i1", i64 128
  %".47" = load <4 x double>, ptr %".46", align 8
  %".48" = shufflevector <4 x double> %".45", <4 x double> %".47", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".49" = shufflevector <4 x double> %".45", <4 x double> %".47", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %".50" = getelementptr inbounds i8, ptr %"scratch.i1", i64 256
  %".51" = load <4 x double>, ptr %".50", align 8
  %".52" = getelementptr inbounds i8, ptr %"scratch.i1", i64 384
  %".53" = load <4 x double>, ptr %".52", align 8
  %".54" = shufflevector <4 x double> %".51", <4 x double> %".53", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".55" = shufflevector <4 x double> %".51", <4 x double> %".53", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  %".56" = shufflevector <4 x double> %".48", <4 x double> %".54", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".57" = shufflevector <4 x double> %".48", <4 x double> %".54", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x double> %".56", ptr %"b.i1.1", align 32, !nontemporal !0
  %".59" = getelementptr inbounds i8, ptr %"b.i1.1", i64 128
  %".60" = shufflevector <4 x double> %".49", <4 x double> %".55", <4 x i32> <i32 0, i32 1, i32 4, i32 5>
  %".61" = shufflevector <4 x double> %".49", <4 x double> %".55", <4 x i32> <i32 2, i32 3, i32 6, i32 7>
  store <4 x double> %".60", ptr %".59", align 32, !nontemporal !0
  %".63" = getelementptr inbounds i8, ptr %"b.i1.1", i64 256
  store <4 x double> %".57", ptr %".63", align 32, !nontemporal !0
  %".65" = getelementptr inbounds i8, ptr %"b.i1.1", i64 384
  store <4 x double> %".61", ptr %".65", align 32, !nontemporal !0
  br label %"i1.head"
i1.done:
  br label %"i0.head.2"
}

declare void @"llvm.x86.sse.sfence"()

!0 = !{ i32 1 }