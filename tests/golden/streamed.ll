; ModuleID = "ttc_llvm"
target triple = "x86_64-unknown-linux-gnu"
target datalayout = ""

define void @"kernel"(ptr noalias %"a", ptr noalias %"b", ptr %"scalars", ptr %"params", ptr noalias %"scratch", i64 %"begin", i64 %"end") nounwind
{
entry:
  br label %"task.head"
task.head:
  %"task" = phi  i64 [%"begin", %"entry"], [%"task.next", %"tail.end"]
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
  %"i0" = phi  i64 [0, %"task.body"], [%"i0.next", %"i1.done"]
  %"i0.next" = add nsw i64 %"i0", 4
  %".18" = icmp sle i64 %"i0.next", 16
  br i1 %".18", label %"i0.body", label %"i0.done"
i0.body:
  %".20" = mul nsw i64 %"i0", 128
  %".21" = getelementptr inbounds i8, ptr %"a.i1", i64 %".20"
  %"a.i0" = freeze ptr %".21"
  %".22" = mul nsw i64 %"i0", 8
  %".23" = getelementptr inbounds i8, ptr %"b.i1", i64 %".22"
  %"b.i0" = freeze ptr %".23"
  %".24" = mul nsw i64 %"i0", 8
  %".25" = getelementptr inbounds i8, ptr %"scratch", i64 %".24"
  %"scratch.i0" = freeze ptr %".25"
  br label %"i1.head"
i0.done:
  %".79" = ptrtoint ptr %"b.i1" to i64
  %".80" = sub i64 0, %".79"
  %".81" = and i64 %".80", 31
  %".82" = udiv i64 %".81", 8
  %".83" = icmp slt i64 %".82", 128
  %".84" = select  i1 %".83", i64 %".82", i64 128
  %".85" = add i64 0, 0
  %".86" = sub i64 %".84", 0
  %".87" = icmp sgt i64 %".86", 0
  br i1 %".87", label %"head.then", label %"head.end"
i1.head:
  %"i1" = phi  i64 [0, %"i0.body"], [%"i1.next", %"i1.body"]
  %"i1.next" = add nsw i64 %"i1", 4
  %".27" = icmp sle i64 %"i1.next", 8
  br i1 %".27", label %"i1.body", label %"i1.done"
i1.body:
  %".29" = mul nsw i64 %"i1", 8
  %".30" = getelementptr inbounds i8, ptr %"a.i0", i64 %".29"
  %"a.i1.1" = freeze ptr %".30"
  %".31" = mul nsw i64 %"i1", 128
  %".32" = getelementptr inbounds i8, ptr %"b.i0", i64 %".31"
  %"b.i1.1" = freeze ptr %".32"
  %".33" = mul nsw i64 %"i1", 128
  %".34" = getelementptr inbounds i8, ptr %"scratch.i0", i64 %".33"
  %"scratch.i1" = freeze ptr %".34"
  %".35" = getelementptr inbounds i8, ptr %"a.i1.1", i64 256
  %".36" = load <2 x double>, ptr %"a.i1.1", align 1
  %".37" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".36", i64 0)
  %".38" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".37")
  %".39" = load <2 x double>, ptr %".35", align 1
  %".40" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".38", <2 x double> %".39", i64 2)
  %".41" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".40")
  %".42" = getelementptr inbounds i8, ptr %"a.i1.1", i64 16
  %".43" = getelementptr inbounds i8, ptr %".35", i64 16
  %".44" = load <2 x double>, ptr %".42", align 1
  %".45" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".44", i64 0)
  %".46" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".45")
  %".47" = load <2 x double>, ptr %".43", align 1
  %".48" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".46", <2 x double> %".47", i64 2)
  %".49" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".48")
  %".50" = getelementptr inbounds i8, ptr %"a.i1.1", i64 128
  %".51" = getelementptr inbounds i8, ptr %"a.i1.1", i64 384
  %".52" = load <2 x double>, ptr %".50", align 1
  %".53" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".52", i64 0)
  %".54" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".53")
  %".55" = load <2 x double>, ptr %".51", align 1
  %".56" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".54", <2 x double> %".55", i64 2)
  %".57" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".56")
  %".58" = getelementptr inbounds i8, ptr %".50", i64 16
  %".59" = getelementptr inbounds i8, ptr %".51", i64 16
  %".60" = load <2 x double>, ptr %".58", align 1
  %".61" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> poison, <2 x double> %".60", i64 0)
  %".62" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".61")
  %".63" = load <2 x double>, ptr %".59", align 1
  %".64" = call <4 x double> @llvm.vector.insert.v4f64.v2f64(<4 x double> %".62", <2 x double> %".63", i64 2)
  %".65" = call <4 x double> @llvm.arithmetic.fence.v4f64(<4 x double> %".64")
  %".66" = shufflevector <4 x double> %".41", <4 x double> %".57", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".67" = shufflevector <4 x double> %".41", <4 x double> %".57", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  store <4 x double> %".66", ptr %"scratch.i1", align 8
  %".69" = getelementptr inbounds i8, ptr %"scratch.i1", i64 128
  store <4 x double> %".67", ptr %".69", align 8
  %".71" = getelementptr inbounds i8, ptr %"scratch.i1", i64 256
  %".72" = shufflevector <4 x double> %".49", <4 x double> %".65", <4 x i32> <i32 0, i32 4, i32 2, i32 6>
  %".73" = shufflevector <4 x double> %".49", <4 x double> %".65", <4 x i32> <i32 1, i32 5, i32 3, i32 7>
  store <4 x double> %".72", ptr %".71", align 8
  %".75" = getelementptr inbounds i8, ptr %"scratch.i1", i64 384
  store <4 x double> %".73", ptr %".75", align 8
  br label %"i1.head"
i1.done:
  br label %"i0.head"
head.then:
  %".89" = mul nsw i64 %".85", 8
  %".90" = getelementptr inbounds i8, ptr %"scratch", i64 %".89"
  %".91" = trunc i64 %".86" to i32
  %".92" = insertelement <4 x i32> undef, i32 %".91", i32 0
  %".93" = shufflevector <4 x i32> %".92", <4 x i32> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".94" = icmp ult <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %".93"
  %".95" = call <4 x double> @"llvm.masked.load.v4f64.p0"(ptr %".90", i32 1, <4 x i1> %".94", <4 x double> zeroinitializer)
  %".96" = mul nsw i64 %".85", 8
  %".97" = getelementptr inbounds i8, ptr %"b.i1", i64 %".96"
  call void @"llvm.masked.store.v4f64.p0"(<4 x double> %".95", ptr %".97", i32 1, <4 x i1> %".94")
  br label %"head.end"
head.end:
  %".100" = sub i64 128, %".84"
  %".101" = and i64 %".100", -4
  %".102" = and i64 %".101", -16
  br label %"vectors.head"
vectors.head:
  %"vectors" = phi  i64 [0, %"head.end"], [%"vectors.next", %"vectors.body"]
  %"vectors.next" = add nsw i64 %"vectors", 16
  %".104" = icmp sle i64 %"vectors.next", %".102"
  br i1 %".104", label %"vectors.body", label %"vectors.done"
vectors.body:
  %".106" = add i64 %".84", %"vectors"
  %".107" = add i64 %".106", 0
  %".108" = add i64 %".84", %"vectors"
  %".109" = add i64 %".108", 4
  %".110" = add i64 %".84", %"vectors"
  %".111" = add i64 %".110", 8
  %".112" = add i64 %".84", %"vectors"
  %".113" = add i64 %".112", 12
  %".114" = mul nsw i64 %".107", 8
  %".115" = getelementptr inbounds i8, ptr %"scratch", i64 %".114"
  %".116" = load <4 x double>, ptr %".115", align 1
  %".117" = mul nsw i64 %".109", 8
  %".118" = getelementptr inbounds i8, ptr %"scratch", i64 %".117"
  %".119" = load <4 x double>, ptr %".118", align 1
  %".120" = mul nsw i64 %".111", 8
  %".121" = getelementptr inbounds i8, ptr %"scratch", i64 %".120"
  %".122" = load <4 x double>, ptr %".121", align 1
  %".123" = mul nsw i64 %".113", 8
  %".124" = getelementptr inbounds i8, ptr %"scratch", i64 %".123"
  %".125" = load <4 x double>, ptr %".124", align 1
  %".126" = mul nsw i64 %".107", 8
  %".127" = getelementptr inbounds i8, ptr %"b.i1", i64 %".126"
  store <4 x double> %".116", ptr %".127", align 32, !nontemporal !0
  %".129" = mul nsw i64 %".109", 8
  %".130" = getelementptr inbounds i8, ptr %"b.i1", i64 %".129"
  store <4 x double> %".119", ptr %".130", align 32, !nontemporal !0
  %".132" = mul nsw i64 %".111", 8
  %".133" = getelementptr inbounds i8, ptr %"b.i1", i64 %".132"
  store <4 x double> %".122", ptr %".133", align 32, !nontemporal !0
  %".135" = mul nsw i64 %".113", 8
  %".136" = getelementptr inbounds i8, ptr %"b.i1", i64 %".135"
  store <4 x double> %".125", ptr %".136", align 32, !nontemporal !0
  br label %"vectors.head"
vectors.done:
  br label %"vector.head"
vector.head:
  %"vector" = phi  i64 [%".102", %"vectors.done"], [%"vector.next", %"vector.body"]
  %"vector.next" = add nsw i64 %"vector", 4
  %".140" = icmp sle i64 %"vector.next", %".101"
  br i1 %".140", label %"vector.body", label %"vector.done"
vector.body:
  %".142" = add i64 %".84", %"vector"
  %".143" = mul nsw i64 %".142", 8
  %".144" = getelementptr inbounds i8, ptr %"scratch", i64 %".143"
  %".145" = load <4 x double>, ptr %".144", align 1
  %".146" = mul nsw i64 %".142", 8
  %".147" = getelementptr inbounds i8, ptr %"b.i1", i64 %".146"
  store <4 x double> %".145", ptr %".147", align 32, !nontemporal !0
  br label %"vector.head"
vector.done:
  %".150" = add i64 %".84", %".101"
  %".151" = sub i64 128, %".150"
  %".152" = add i64 %".150", 0
  %".153" = sub i64 %".151", 0
  %".154" = icmp sgt i64 %".153", 0
  br i1 %".154", label %"tail.then", label %"tail.end"
tail.then:
  %".156" = mul nsw i64 %".152", 8
  %".157" = getelementptr inbounds i8, ptr %"scratch", i64 %".156"
  %".158" = trunc i64 %".153" to i32
  %".159" = insertelement <4 x i32> undef, i32 %".158", i32 0
  %".160" = shufflevector <4 x i32> %".159", <4 x i32> undef, <4 x i32> <i32 0, i32 0, i32 0, i32 0>
  %".161" = icmp ult <4 x i32> <i32 0, i32 1, i32 2, i32 3>, %".160"
  %".162" = call <4 x double> @"llvm.masked.load.v4f64.p0"(ptr %".157", i32 1, <4 x i1> %".161", <4 x double> zeroinitializer)
  %".163" = mul nsw i64 %".152", 8
  %".164" = getelementptr inbounds i8, ptr %"b.i1", i64 %".163"
  call void @"llvm.masked.store.v4f64.p0"(<4 x double> %".162", ptr %".164", i32 1, <4 x i1> %".161")
  br label %"tail.end"
tail.end:
  br label %"task.head"
}

declare <4 x double> @"llvm.vector.insert.v4f64.v2f64"(<4 x double> %".1", <2 x double> %".2", i64 %".3")

declare <4 x double> @"llvm.arithmetic.fence.v4f64"(<4 x double> %".1")

declare <4 x double> @"llvm.masked.load.v4f64.p0"(ptr %".1", i32 %".2", <4 x i1> %".3", <4 x double> %".4")

declare void @"llvm.masked.store.v4f64.p0"(<4 x double> %".1", ptr %".2", i32 %".3", <4 x i1> %".4")

declare void @"llvm.x86.sse.sfence"()

!0 = !{ i32 1 }