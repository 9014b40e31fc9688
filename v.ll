; ModuleID = 'elementwise.ll'
source_filename = "kernels"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: nounwind
define ptx_kernel void @map_vectors(ptr addrspace(1) readonly align 16 %0, i64 %1, ptr addrspace(1) align 16 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = shl nuw nsw i64 %4, 8
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = add nuw nsw i64 %5, %7
  %9 = icmp slt i64 %8, %1
  br i1 %9, label %then, label %behind

then:                                             ; preds = %entry
  %10 = shl nuw nsw i64 %8, 4
  %11 = getelementptr i8, ptr addrspace(1) %0, i64 %10
  %12 = load <4 x float>, ptr addrspace(1) %11, align 16
  %13 = extractelement <4 x float> %12, i64 0
  %14 = extractelement <4 x float> %12, i64 1
  %15 = extractelement <4 x float> %12, i64 2
  %16 = extractelement <4 x float> %12, i64 3
  %17 = call float @llvm.maximumnum.f32(float %13, float 0.000000e+00)
  %18 = call float @llvm.maximumnum.f32(float %14, float 0.000000e+00)
  %19 = call float @llvm.maximumnum.f32(float %15, float 0.000000e+00)
  %20 = call float @llvm.maximumnum.f32(float %16, float 0.000000e+00)
  %21 = insertelement <4 x float> poison, float %17, i64 0
  %22 = insertelement <4 x float> %21, float %18, i64 1
  %23 = insertelement <4 x float> %22, float %19, i64 2
  %24 = insertelement <4 x float> %23, float %20, i64 3
  %25 = getelementptr i8, ptr addrspace(1) %2, i64 %10
  store <4 x float> %24, ptr addrspace(1) %25, align 16
  br label %behind

behind:                                           ; preds = %then, %entry
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.maximumnum.f32(float, float) #2

; Function Attrs: nounwind
define ptx_kernel void @map_scalars(ptr addrspace(1) readonly align 16 %0, i64 %1, ptr addrspace(1) align 16 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = shl nuw nsw i64 %4, 8
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = add nuw nsw i64 %5, %7
  %9 = icmp slt i64 %8, %1
  br i1 %9, label %then, label %behind

then:                                             ; preds = %entry
  %10 = shl nuw nsw i64 %8, 2
  %11 = getelementptr i8, ptr addrspace(1) %0, i64 %10
  %12 = load float, ptr addrspace(1) %11, align 4
  %13 = call float @llvm.maximumnum.f32(float %12, float 0.000000e+00)
  %14 = getelementptr i8, ptr addrspace(1) %2, i64 %10
  store float %13, ptr addrspace(1) %14, align 4
  br label %behind

behind:                                           ; preds = %then, %entry
  ret void
}

; Function Attrs: nounwind
define ptx_kernel void @map_vectors_2(ptr addrspace(1) readonly align 16 %0, i64 %1, ptr addrspace(1) align 16 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = shl nuw nsw i64 %4, 8
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = add nuw nsw i64 %5, %7
  %9 = icmp slt i64 %8, %1
  br i1 %9, label %then, label %behind

then:                                             ; preds = %entry
  %10 = shl nuw nsw i64 %8, 4
  %11 = getelementptr i8, ptr addrspace(1) %0, i64 %10
  %12 = load <4 x float>, ptr addrspace(1) %11, align 16
  %13 = extractelement <4 x float> %12, i64 0
  %14 = extractelement <4 x float> %12, i64 1
  %15 = extractelement <4 x float> %12, i64 2
  %16 = extractelement <4 x float> %12, i64 3
  %17 = fmul float %13, %13
  %18 = fmul float %14, %14
  %19 = fmul float %15, %15
  %20 = fmul float %16, %16
  %21 = fadd float %17, 1.000000e+00
  %22 = fadd float %18, 1.000000e+00
  %23 = fadd float %19, 1.000000e+00
  %24 = fadd float %20, 1.000000e+00
  %25 = insertelement <4 x float> poison, float %21, i64 0
  %26 = insertelement <4 x float> %25, float %22, i64 1
  %27 = insertelement <4 x float> %26, float %23, i64 2
  %28 = insertelement <4 x float> %27, float %24, i64 3
  %29 = getelementptr i8, ptr addrspace(1) %2, i64 %10
  store <4 x float> %28, ptr addrspace(1) %29, align 16
  br label %behind

behind:                                           ; preds = %then, %entry
  ret void
}

; Function Attrs: nounwind
define ptx_kernel void @map_scalars_2(ptr addrspace(1) readonly align 16 %0, i64 %1, ptr addrspace(1) align 16 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = zext nneg i32 %3 to i64
  %5 = shl nuw nsw i64 %4, 8
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = zext nneg i32 %6 to i64
  %8 = add nuw nsw i64 %5, %7
  %9 = icmp slt i64 %8, %1
  br i1 %9, label %then, label %behind

then:                                             ; preds = %entry
  %10 = shl nuw nsw i64 %8, 2
  %11 = getelementptr i8, ptr addrspace(1) %0, i64 %10
  %12 = load float, ptr addrspace(1) %11, align 4
  %13 = fmul float %12, %12
  %14 = fadd float %13, 1.000000e+00
  %15 = getelementptr i8, ptr addrspace(1) %2, i64 %10
  store float %14, ptr addrspace(1) %15, align 4
  br label %behind

behind:                                           ; preds = %then, %entry
  ret void
}

attributes #0 = { nounwind "nvvm.reqntid"="256,1,1" "target-cpu"="sm_90" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) "target-cpu"="sm_90" }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) "target-cpu"="sm_90" }
