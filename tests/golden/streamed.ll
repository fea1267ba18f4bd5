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
  %".14" = getelementptr inbounds i8, ptr %"a", i64 %".13"
  %"a.i1" = freeze ptr %".14"
  %".15" = mul nsw i64 %".12", 128
  %".16" = getelementptr inbounds i8, ptr %"b", i64 %".15"
  %"b.i1" = freeze ptr %".16"
  br label %"i0.head"
task.done:
  call void @"llvm.x86.sse.sfence"()
  ret void
i0.head:
  %"i0" = phi  i64 [0, %"task.body"], [%"i0.next", %"i0.done.2"]
  %"i0.next" = add nsw i64 %"i0", 8
  %".18" = icmp sle i64 %"i0.next", 16
  br i1 %".18", label %"i0.body", label %"i0.done"
i0.body:
  %".20" = mul nsw i64 %"i0", 128
  %".21" = getelementptr inbounds i8, ptr %"a.i1", i64 %".20"
  %"a.i0" = freeze ptr %".21"
  %".22" = mul nsw i64 %"i0", 8
  %".23" = getelementptr inbounds i8, ptr %"b.i1", i64 %".22"
  %"b.i0" = freeze ptr %".23"
  br label %"i0.head.1"
i0.done:
  br label %"task.head"
i0.head.1:
  %"i0.1" = phi  i64 [0, %"i0.body"], [%"i0.next.1", %"i0.body.1"]
  %"i0.next.1" = add nsw i64 %"i0.1", 1
  %".25" = icmp sle i64 %"i0.next.1", 8
  br i1 %".25", label %"i0.body.1", label %"i0.done.1"
i0.body.1:
  %".27" = mul nsw i64 %"i0.1", 128
  %".28" = getelementptr inbounds i8, ptr %"a.i0", i64 %".27"
  %"a.i0.1" = freeze ptr %".28"
  %".29" = mul nsw i64 %"i0.1", 8
  %".30" = getelementptr inbounds i8, ptr %"b.i0", i64 %".29"
  %"b.i0.1" = freeze ptr %".30"
  %".31" = mul nsw i64 %"i0.1", 128
  %".32" = getelementptr inbounds i8, ptr %"scratch", i64 %".31"
  %"scratch.i0" = freeze ptr %".32"
  %".33" = load <4 x double>, ptr %"a.i0.1", align 1
  store <4 x double> %".33", ptr %"scratch.i0", align 8
  %".35" = getelementptr inbounds i8, ptr %"scratch.i0", i64 32
  %".36" = getelementptr inbounds i8, ptr %"a.i0.1", i64 32
  %".37" = load <4 x double>, ptr %".36", align 1
  store <4 x double> %".37", ptr %".35", align 8
  br label %"i0.head.1"
i0.done.1:
  br label %"i0.head.2"
i0.head.2:
  %"i0.2" = phi  i64 [0, %"i0.done.1"], [%"i0.next.2", %"i1.done"]
  %"i0.next.2" = add nsw i64 %"i0.2", 4
  %".41" = icmp sle i64 %"i0.next.2", 8
  br i1 %".41", label %"i0.body.2", label %"i0.done.2"
i0.body.2:
  %".43" = mul nsw i64 %"i0.2", 128
  %".44" = getelementptr inbounds i8, ptr %"a.i0", i64 %".43"
  %"a.i0.2" = freeze ptr %".44"
  %".45" = mul nsw i64 %"i0.2", 8
  %".46" = getelementptr inbounds i8, ptr %"b.i0", i64 %".45"
  %"b.i0.2" = freeze ptr %".46"
  %".47" = mul nsw i64 %"i0.2", 128
  %".48" = getelementptr inbounds i8, ptr %"scratch", i64 %".47"
  %"scratch.i0.1" = freeze ptr %".48"
  br label %"i1.head"
i0.done.2:
  br label %"i0.head"
i1.head:
  %"i1" = phi  i64 [0, %"i0.body.2"], [%"i1.next", %"i1.body"]
  %"i1.next" = add nsw i64 %"i1", 4
  %".50" = icmp sle i64 %"i1.next", 8
  br i1 %".50", label %"i1.body", label %"i1.done"
i1.body:
  %".52" = mul nsw i64 %"i1", 8
  %".53" = getelementptr inbounds i8, ptr %"a.i0.2", i64 %".52"
  %"a.i1.1" = freeze ptr %".53"
  %".54" = mul nsw i64 %"i1", 128
  %".55" = getelementptr inbounds i8, ptr %"b.i0.2", i64 %".54"
  %"b.i1.1" = freeze ptr %".55"
  %".56" = mul nsw i64 %"i1", 8
  %".57" = getelementptr inbounds i8, ptr %"scratch.i0.1", i64 %".56"
  %"scratch.i1" = freeze ptr %".57"
  %".58" = getelementptr inbounds i8, ptr %"scratch.i1", i64 256
  %".59" = load <2 x double>, ptr %"scratch.i1", align 8
  %".60" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".59", i64 0)
  %".61" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".60")
  %".62" = load <2 x double>, ptr %".58", align 8
  %".63" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".61", <2 x double> %".62", i64 2)
  %".64" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".63")
  %".65" = getelementptr inbounds i8, ptr %"scratch.i1", i64 16
  %".66" = getelementptr inbounds i8, ptr %".58", i64 16
  %".67" = load <2 x double>, ptr %".65", align 8
  %".68" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".67", i64 0)
  %".69" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".68")
  %".70" = load <2 x double>, ptr %".66", align 8
  %".71" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".69", <2 x double> %".70", i64 2)
  %".72" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".71")
  %".73" = getelementptr inbounds i8, ptr %"scratch.i1", i64 128
  %".74" = getelementptr inbounds i8, ptr %"scratch.i1", i64 384
  %".75" = load <2 x double>, ptr %".73", align 8
  %".76" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".75", i64 0)
  %".77" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".76")
  %".78" = load <2 x double>, ptr %".74", align 8
  %".79" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".77", <2 x double> %".78", i64 2)
  %".80" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".79")
  %".81" = getelementptr inbounds i8, ptr %".73", i64 16
  %".82" = getelementptr inbounds i8, ptr %".74", i64 16
  %".83" = load <2 x double>, ptr %".81", align 8
  %".84" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".83", i64 0)
  %".85" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".84")
  %".86" = load <2 x double>, ptr %".82", align 8
  %".87" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".85", <2 x double> %".86", i64 2)
  %".88" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".87")
  %".89" = shufflevector <4 x double> %".64", <4 x double> %".80", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".90" = shufflevector <4 x double> %".64", <4 x double> %".80", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  store <4 x double> %".89", ptr %"b.i1.1", align 32, !nontemporal !0
  %".92" = getelementptr inbounds i8, ptr %"b.i1.1", i64 128
  store <4 x double> %".90", ptr %".92", align 32, !nontemporal !0
  %".94" = getelementptr inbounds i8, ptr %"b.i1.1", i64 256
  %".95" = shufflevector <4 x double> %".72", <4 x double> %".88", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".96" = shufflevector <4 x double> %".72", <4 x double> %".88", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  store <4 x double> %".95", ptr %".94", align 32, !nontemporal !0
  %".98" = getelementptr inbounds i8, ptr %"b.i1.1", i64 384
  store <4 x double> %".96", ptr %".98", align 32, !nontemporal !0
  br label %"i1.head"
i1.done:
  br label %"i0.head.2"
}

declare <4 x double> @"llvm.vector.insert.v4f64.v2f64"(<4 x double> %".1", <2 x double> %".2", i64 %".3")

declare <4 x double> @"llvm.arithmetic.fence.v4f64"(<4 x double> %".1")

declare void @"llvm.x86.sse.sfence"()

!0 = !{ i32 1 }