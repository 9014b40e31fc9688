; ModuleID = 'kernels'
source_filename = "kernels"

; Function Attrs: nounwind
define ptx_kernel void @map_vectors(ptr addrspace(1) readonly align 16 %0, i64 %1, ptr addrspace(1) align 16 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = sext i32 %3 to i64
  %5 = mul nsw i64 %4, 256
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = sext i32 %6 to i64
  %8 = add nsw i64 %5, %7
  %9 = icmp slt i64 %8, %1
  br i1 %9, label %then, label %behind

then:                                             ; preds = %entry
  %10 = mul nsw i64 %8, 4
  %11 = mul nsw i64 %8, 4
  %12 = mul nsw i64 %11, 4
  %13 = getelementptr i8, ptr addrspace(1) %0, i64 %12
  %14 = load <4 x float>, ptr addrspace(1) %13, align 16
  %15 = extractelement <4 x float> %14, i32 0
  %16 = extractelement <4 x float> %14, i32 1
  %17 = extractelement <4 x float> %14, i32 2
  %18 = extractelement <4 x float> %14, i32 3
  %19 = call float @llvm.maximumnum.f32(float %15, float 0.000000e+00)
  %20 = call float @llvm.maximumnum.f32(float %16, float 0.000000e+00)
  %21 = call float @llvm.maximumnum.f32(float %17, float 0.000000e+00)
  %22 = call float @llvm.maximumnum.f32(float %18, float 0.000000e+00)
  %23 = insertelement <4 x float> undef, float %19, i32 0
  %24 = insertelement <4 x float> %23, float %20, i32 1
  %25 = insertelement <4 x float> %24, float %21, i32 2
  %26 = insertelement <4 x float> %25, float %22, i32 3
  %27 = mul nsw i64 %10, 4
  %28 = getelementptr i8, ptr addrspace(1) %2, i64 %27
  store <4 x float> %26, ptr addrspace(1) %28, align 16
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
  %4 = sext i32 %3 to i64
  %5 = mul nsw i64 %4, 256
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = sext i32 %6 to i64
  %8 = add nsw i64 %5, %7
  %9 = icmp slt i64 %8, %1
  br i1 %9, label %then, label %behind

then:                                             ; preds = %entry
  %10 = mul nsw i64 %8, 4
  %11 = getelementptr i8, ptr addrspace(1) %0, i64 %10
  %12 = load float, ptr addrspace(1) %11, align 4
  %13 = call float @llvm.maximumnum.f32(float %12, float 0.000000e+00)
  %14 = mul nsw i64 %8, 4
  %15 = getelementptr i8, ptr addrspace(1) %2, i64 %14
  store float %13, ptr addrspace(1) %15, align 4
  br label %behind

behind:                                           ; preds = %then, %entry
  ret void
}

; Function Attrs: nounwind
define ptx_kernel void @map_vectors_2(ptr addrspace(1) readonly align 16 %0, i64 %1, ptr addrspace(1) align 16 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = sext i32 %3 to i64
  %5 = mul nsw i64 %4, 256
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = sext i32 %6 to i64
  %8 = add nsw i64 %5, %7
  %9 = icmp slt i64 %8, %1
  br i1 %9, label %then, label %behind

then:                                             ; preds = %entry
  %10 = mul nsw i64 %8, 4
  %11 = mul nsw i64 %8, 4
  %12 = mul nsw i64 %11, 4
  %13 = getelementptr i8, ptr addrspace(1) %0, i64 %12
  %14 = load <4 x float>, ptr addrspace(1) %13, align 16
  %15 = extractelement <4 x float> %14, i32 0
  %16 = extractelement <4 x float> %14, i32 1
  %17 = extractelement <4 x float> %14, i32 2
  %18 = extractelement <4 x float> %14, i32 3
  %19 = fmul float %15, %15
  %20 = fmul float %16, %16
  %21 = fmul float %17, %17
  %22 = fmul float %18, %18
  %23 = fadd float %19, 1.000000e+00
  %24 = fadd float %20, 1.000000e+00
  %25 = fadd float %21, 1.000000e+00
  %26 = fadd float %22, 1.000000e+00
  %27 = insertelement <4 x float> undef, float %23, i32 0
  %28 = insertelement <4 x float> %27, float %24, i32 1
  %29 = insertelement <4 x float> %28, float %25, i32 2
  %30 = insertelement <4 x float> %29, float %26, i32 3
  %31 = mul nsw i64 %10, 4
  %32 = getelementptr i8, ptr addrspace(1) %2, i64 %31
  store <4 x float> %30, ptr addrspace(1) %32, align 16
  br label %behind

behind:                                           ; preds = %then, %entry
  ret void
}

; Function Attrs: nounwind
define ptx_kernel void @map_scalars_2(ptr addrspace(1) readonly align 16 %0, i64 %1, ptr addrspace(1) align 16 %2) #0 {
entry:
  %3 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = sext i32 %3 to i64
  %5 = mul nsw i64 %4, 256
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = sext i32 %6 to i64
  %8 = add nsw i64 %5, %7
  %9 = icmp slt i64 %8, %1
  br i1 %9, label %then, label %behind

then:                                             ; preds = %entry
  %10 = mul nsw i64 %8, 4
  %11 = getelementptr i8, ptr addrspace(1) %0, i64 %10
  %12 = load float, ptr addrspace(1) %11, align 4
  %13 = fmul float %12, %12
  %14 = fadd float %13, 1.000000e+00
  %15 = mul nsw i64 %8, 4
  %16 = getelementptr i8, ptr addrspace(1) %2, i64 %15
  store float %14, ptr addrspace(1) %16, align 4
  br label %behind

behind:                                           ; preds = %then, %entry
  ret void
}

attributes #0 = { nounwind "nvvm.reqntid"="256,1,1" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
