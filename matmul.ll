; ModuleID = 'kernels'
source_filename = "kernels"

@"matmul_tiles$shared0" = internal addrspace(3) global [16880 x i8] undef, align 16
@"matmul_tiles$shared1" = internal addrspace(3) global [16384 x i8] undef, align 16

; Function Attrs: nounwind
define ptx_kernel void @matmul_tiles(ptr addrspace(1) noalias readonly align 16 %0, i64 %1, i64 %2, ptr addrspace(1) noalias readonly align 16 %3, i64 %4, ptr addrspace(1) noalias align 16 %5) #0 {
entry:
  %local0 = alloca float, align 4
  %local01 = alloca float, align 4
  %local02 = alloca float, align 4
  %local03 = alloca float, align 4
  %local04 = alloca float, align 4
  %local05 = alloca float, align 4
  %local06 = alloca float, align 4
  %local07 = alloca float, align 4
  %local1 = alloca <4 x float>, align 16
  %local18 = alloca <4 x float>, align 16
  %local2 = alloca float, align 4
  %local29 = alloca float, align 4
  %local210 = alloca float, align 4
  %local211 = alloca float, align 4
  %local212 = alloca float, align 4
  %local213 = alloca float, align 4
  %local214 = alloca float, align 4
  %local215 = alloca float, align 4
  %local3 = alloca float, align 4
  %local316 = alloca float, align 4
  %local317 = alloca float, align 4
  %local318 = alloca float, align 4
  %local319 = alloca float, align 4
  %local320 = alloca float, align 4
  %local321 = alloca float, align 4
  %local322 = alloca float, align 4
  %local4 = alloca float, align 4
  %local423 = alloca float, align 4
  %local424 = alloca float, align 4
  %local425 = alloca float, align 4
  %local426 = alloca float, align 4
  %local427 = alloca float, align 4
  %local428 = alloca float, align 4
  %local429 = alloca float, align 4
  %local430 = alloca float, align 4
  %local431 = alloca float, align 4
  %local432 = alloca float, align 4
  %local433 = alloca float, align 4
  %local434 = alloca float, align 4
  %local435 = alloca float, align 4
  %local436 = alloca float, align 4
  %local437 = alloca float, align 4
  %local438 = alloca float, align 4
  %local439 = alloca float, align 4
  %local440 = alloca float, align 4
  %local441 = alloca float, align 4
  %local442 = alloca float, align 4
  %local443 = alloca float, align 4
  %local444 = alloca float, align 4
  %local445 = alloca float, align 4
  %local446 = alloca float, align 4
  %local447 = alloca float, align 4
  %local448 = alloca float, align 4
  %local449 = alloca float, align 4
  %local450 = alloca float, align 4
  %local451 = alloca float, align 4
  %local452 = alloca float, align 4
  %local453 = alloca float, align 4
  %local454 = alloca float, align 4
  %local455 = alloca float, align 4
  %local456 = alloca float, align 4
  %local457 = alloca float, align 4
  %local458 = alloca float, align 4
  %local459 = alloca float, align 4
  %local460 = alloca float, align 4
  %local461 = alloca float, align 4
  %local462 = alloca float, align 4
  %local463 = alloca float, align 4
  %local464 = alloca float, align 4
  %local465 = alloca float, align 4
  %local466 = alloca float, align 4
  %local467 = alloca float, align 4
  %local468 = alloca float, align 4
  %local469 = alloca float, align 4
  %local470 = alloca float, align 4
  %local471 = alloca float, align 4
  %local472 = alloca float, align 4
  %local473 = alloca float, align 4
  %local474 = alloca float, align 4
  %local475 = alloca float, align 4
  %local476 = alloca float, align 4
  %local477 = alloca float, align 4
  %local478 = alloca float, align 4
  %local479 = alloca float, align 4
  %local480 = alloca float, align 4
  %local481 = alloca float, align 4
  %local482 = alloca float, align 4
  %local483 = alloca float, align 4
  %local484 = alloca float, align 4
  %local485 = alloca float, align 4
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %8 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %9 = and i32 %8, 15
  %10 = lshr i32 %8, 4
  store float 0.000000e+00, ptr %local4, align 4
  store float 0.000000e+00, ptr %local423, align 4
  store float 0.000000e+00, ptr %local424, align 4
  store float 0.000000e+00, ptr %local425, align 4
  store float 0.000000e+00, ptr %local426, align 4
  store float 0.000000e+00, ptr %local427, align 4
  store float 0.000000e+00, ptr %local428, align 4
  store float 0.000000e+00, ptr %local429, align 4
  store float 0.000000e+00, ptr %local430, align 4
  store float 0.000000e+00, ptr %local431, align 4
  store float 0.000000e+00, ptr %local432, align 4
  store float 0.000000e+00, ptr %local433, align 4
  store float 0.000000e+00, ptr %local434, align 4
  store float 0.000000e+00, ptr %local435, align 4
  store float 0.000000e+00, ptr %local436, align 4
  store float 0.000000e+00, ptr %local437, align 4
  store float 0.000000e+00, ptr %local438, align 4
  store float 0.000000e+00, ptr %local439, align 4
  store float 0.000000e+00, ptr %local440, align 4
  store float 0.000000e+00, ptr %local441, align 4
  store float 0.000000e+00, ptr %local442, align 4
  store float 0.000000e+00, ptr %local443, align 4
  store float 0.000000e+00, ptr %local444, align 4
  store float 0.000000e+00, ptr %local445, align 4
  store float 0.000000e+00, ptr %local446, align 4
  store float 0.000000e+00, ptr %local447, align 4
  store float 0.000000e+00, ptr %local448, align 4
  store float 0.000000e+00, ptr %local449, align 4
  store float 0.000000e+00, ptr %local450, align 4
  store float 0.000000e+00, ptr %local451, align 4
  store float 0.000000e+00, ptr %local452, align 4
  store float 0.000000e+00, ptr %local453, align 4
  store float 0.000000e+00, ptr %local454, align 4
  store float 0.000000e+00, ptr %local455, align 4
  store float 0.000000e+00, ptr %local456, align 4
  store float 0.000000e+00, ptr %local457, align 4
  store float 0.000000e+00, ptr %local458, align 4
  store float 0.000000e+00, ptr %local459, align 4
  store float 0.000000e+00, ptr %local460, align 4
  store float 0.000000e+00, ptr %local461, align 4
  store float 0.000000e+00, ptr %local462, align 4
  store float 0.000000e+00, ptr %local463, align 4
  store float 0.000000e+00, ptr %local464, align 4
  store float 0.000000e+00, ptr %local465, align 4
  store float 0.000000e+00, ptr %local466, align 4
  store float 0.000000e+00, ptr %local467, align 4
  store float 0.000000e+00, ptr %local468, align 4
  store float 0.000000e+00, ptr %local469, align 4
  store float 0.000000e+00, ptr %local470, align 4
  store float 0.000000e+00, ptr %local471, align 4
  store float 0.000000e+00, ptr %local472, align 4
  store float 0.000000e+00, ptr %local473, align 4
  store float 0.000000e+00, ptr %local474, align 4
  store float 0.000000e+00, ptr %local475, align 4
  store float 0.000000e+00, ptr %local476, align 4
  store float 0.000000e+00, ptr %local477, align 4
  store float 0.000000e+00, ptr %local478, align 4
  store float 0.000000e+00, ptr %local479, align 4
  store float 0.000000e+00, ptr %local480, align 4
  store float 0.000000e+00, ptr %local481, align 4
  store float 0.000000e+00, ptr %local482, align 4
  store float 0.000000e+00, ptr %local483, align 4
  store float 0.000000e+00, ptr %local484, align 4
  store float 0.000000e+00, ptr %local485, align 4
  %11 = lshr i64 %1, 4
  %12 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %13 = lshr i64 %2, 7
  %14 = mul i64 128, %1
  %15 = sext i32 %7 to i64
  %16 = mul i64 %15, %14
  %17 = lshr i64 %4, 7
  %18 = sext i32 %6 to i64
  %19 = mul nsw i64 %18, 128
  %20 = lshr i32 %12, 2
  %21 = and i32 %12, 3
  %22 = sext i32 %20 to i64
  %23 = mul i64 %22, %1
  %24 = mul nsw i32 %21, 4
  %25 = sext i32 %24 to i64
  %26 = add i64 %23, %25
  %27 = add i64 %16, %26
  %28 = mul i64 %27, 4
  %29 = getelementptr i8, ptr addrspace(1) %0, i64 %28
  %30 = load <4 x float>, ptr addrspace(1) %29, align 16
  %31 = extractelement <4 x float> %30, i32 0
  %32 = extractelement <4 x float> %30, i32 1
  %33 = extractelement <4 x float> %30, i32 2
  %34 = extractelement <4 x float> %30, i32 3
  %35 = insertelement <4 x float> undef, float %31, i32 0
  %36 = insertelement <4 x float> %35, float %32, i32 1
  %37 = insertelement <4 x float> %36, float %33, i32 2
  %38 = insertelement <4 x float> %37, float %34, i32 3
  store float %31, ptr %local0, align 4
  store float %32, ptr %local01, align 4
  store float %33, ptr %local02, align 4
  store float %34, ptr %local03, align 4
  %39 = add nsw i32 %12, 256
  %40 = lshr i32 %39, 2
  %41 = and i32 %39, 3
  %42 = sext i32 %40 to i64
  %43 = mul i64 %42, %1
  %44 = mul nsw i32 %41, 4
  %45 = sext i32 %44 to i64
  %46 = add i64 %43, %45
  %47 = add i64 %16, %46
  %48 = mul i64 %47, 4
  %49 = getelementptr i8, ptr addrspace(1) %0, i64 %48
  %50 = load <4 x float>, ptr addrspace(1) %49, align 16
  %51 = extractelement <4 x float> %50, i32 0
  %52 = extractelement <4 x float> %50, i32 1
  %53 = extractelement <4 x float> %50, i32 2
  %54 = extractelement <4 x float> %50, i32 3
  %55 = insertelement <4 x float> undef, float %51, i32 0
  %56 = insertelement <4 x float> %55, float %52, i32 1
  %57 = insertelement <4 x float> %56, float %53, i32 2
  %58 = insertelement <4 x float> %57, float %54, i32 3
  store float %51, ptr %local04, align 4
  store float %52, ptr %local05, align 4
  store float %53, ptr %local06, align 4
  store float %54, ptr %local07, align 4
  %59 = lshr i32 %12, 5
  %60 = and i32 %12, 31
  %61 = sext i32 %59 to i64
  %62 = mul i64 %61, %4
  %63 = mul nsw i32 %60, 4
  %64 = sext i32 %63 to i64
  %65 = add i64 %62, %64
  %66 = add i64 %19, %65
  %67 = mul i64 %66, 4
  %68 = getelementptr i8, ptr addrspace(1) %3, i64 %67
  %69 = load <4 x float>, ptr addrspace(1) %68, align 16
  %70 = extractelement <4 x float> %69, i32 0
  %71 = extractelement <4 x float> %69, i32 1
  %72 = extractelement <4 x float> %69, i32 2
  %73 = extractelement <4 x float> %69, i32 3
  %74 = insertelement <4 x float> undef, float %70, i32 0
  %75 = insertelement <4 x float> %74, float %71, i32 1
  %76 = insertelement <4 x float> %75, float %72, i32 2
  %77 = insertelement <4 x float> %76, float %73, i32 3
  store <4 x float> %77, ptr %local1, align 16
  %78 = add nsw i32 %12, 256
  %79 = lshr i32 %78, 5
  %80 = and i32 %78, 31
  %81 = sext i32 %79 to i64
  %82 = mul i64 %81, %4
  %83 = mul nsw i32 %80, 4
  %84 = sext i32 %83 to i64
  %85 = add i64 %82, %84
  %86 = add i64 %19, %85
  %87 = mul i64 %86, 4
  %88 = getelementptr i8, ptr addrspace(1) %3, i64 %87
  %89 = load <4 x float>, ptr addrspace(1) %88, align 16
  %90 = extractelement <4 x float> %89, i32 0
  %91 = extractelement <4 x float> %89, i32 1
  %92 = extractelement <4 x float> %89, i32 2
  %93 = extractelement <4 x float> %89, i32 3
  %94 = insertelement <4 x float> undef, float %90, i32 0
  %95 = insertelement <4 x float> %94, float %91, i32 1
  %96 = insertelement <4 x float> %95, float %92, i32 2
  %97 = insertelement <4 x float> %96, float %93, i32 3
  store <4 x float> %97, ptr %local18, align 16
  %98 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %99 = lshr i32 %98, 2
  %100 = and i32 %98, 3
  %101 = mul nsw i32 %100, 4
  %102 = load float, ptr %local0, align 4
  %103 = mul nsw i32 %101, 132
  %104 = add nsw i32 %103, %99
  %105 = mul nsw i32 %104, 4
  %106 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %105
  store float %102, ptr addrspace(3) %106, align 4
  %107 = load float, ptr %local01, align 4
  %108 = add nsw i32 %101, 1
  %109 = mul nsw i32 %108, 132
  %110 = mul i32 %101, 132
  %111 = add nsw i32 %109, %99
  %112 = add i32 %110, %99
  %113 = mul nsw i32 %111, 4
  %114 = mul i32 %112, 4
  %115 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %114
  %116 = getelementptr i8, ptr addrspace(3) %115, i64 528
  store float %107, ptr addrspace(3) %116, align 4
  %117 = load float, ptr %local02, align 4
  %118 = add nsw i32 %101, 2
  %119 = mul nsw i32 %118, 132
  %120 = mul i32 %101, 132
  %121 = add nsw i32 %119, %99
  %122 = add i32 %120, %99
  %123 = mul nsw i32 %121, 4
  %124 = mul i32 %122, 4
  %125 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %124
  %126 = getelementptr i8, ptr addrspace(3) %125, i64 1056
  store float %117, ptr addrspace(3) %126, align 4
  %127 = load float, ptr %local03, align 4
  %128 = add nsw i32 %101, 3
  %129 = mul nsw i32 %128, 132
  %130 = mul i32 %101, 132
  %131 = add nsw i32 %129, %99
  %132 = add i32 %130, %99
  %133 = mul nsw i32 %131, 4
  %134 = mul i32 %132, 4
  %135 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %134
  %136 = getelementptr i8, ptr addrspace(3) %135, i64 1584
  store float %127, ptr addrspace(3) %136, align 4
  %137 = add nsw i32 %98, 256
  %138 = lshr i32 %137, 2
  %139 = and i32 %137, 3
  %140 = mul nsw i32 %139, 4
  %141 = load float, ptr %local04, align 4
  %142 = mul nsw i32 %140, 132
  %143 = add nsw i32 %142, %138
  %144 = mul nsw i32 %143, 4
  %145 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %144
  store float %141, ptr addrspace(3) %145, align 4
  %146 = load float, ptr %local05, align 4
  %147 = add nsw i32 %140, 1
  %148 = mul nsw i32 %147, 132
  %149 = mul i32 %140, 132
  %150 = add nsw i32 %148, %138
  %151 = add i32 %149, %138
  %152 = mul nsw i32 %150, 4
  %153 = mul i32 %151, 4
  %154 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %153
  %155 = getelementptr i8, ptr addrspace(3) %154, i64 528
  store float %146, ptr addrspace(3) %155, align 4
  %156 = load float, ptr %local06, align 4
  %157 = add nsw i32 %140, 2
  %158 = mul nsw i32 %157, 132
  %159 = mul i32 %140, 132
  %160 = add nsw i32 %158, %138
  %161 = add i32 %159, %138
  %162 = mul nsw i32 %160, 4
  %163 = mul i32 %161, 4
  %164 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %163
  %165 = getelementptr i8, ptr addrspace(3) %164, i64 1056
  store float %156, ptr addrspace(3) %165, align 4
  %166 = load float, ptr %local07, align 4
  %167 = add nsw i32 %140, 3
  %168 = mul nsw i32 %167, 132
  %169 = mul i32 %140, 132
  %170 = add nsw i32 %168, %138
  %171 = add i32 %169, %138
  %172 = mul nsw i32 %170, 4
  %173 = mul i32 %171, 4
  %174 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %173
  %175 = getelementptr i8, ptr addrspace(3) %174, i64 1584
  store float %166, ptr addrspace(3) %175, align 4
  %176 = lshr i32 %98, 5
  %177 = and i32 %98, 31
  %178 = mul nsw i32 %176, 128
  %179 = mul nsw i32 %177, 4
  %180 = add nsw i32 %178, %179
  %181 = load <4 x float>, ptr %local1, align 16
  %182 = extractelement <4 x float> %181, i32 0
  %183 = extractelement <4 x float> %181, i32 1
  %184 = extractelement <4 x float> %181, i32 2
  %185 = extractelement <4 x float> %181, i32 3
  %186 = insertelement <4 x float> undef, float %182, i32 0
  %187 = insertelement <4 x float> %186, float %183, i32 1
  %188 = insertelement <4 x float> %187, float %184, i32 2
  %189 = insertelement <4 x float> %188, float %185, i32 3
  %190 = mul nsw i32 %180, 4
  %191 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %190
  store <4 x float> %189, ptr addrspace(3) %191, align 16
  %192 = add nsw i32 %98, 256
  %193 = lshr i32 %192, 5
  %194 = and i32 %192, 31
  %195 = mul nsw i32 %193, 128
  %196 = mul nsw i32 %194, 4
  %197 = add nsw i32 %195, %196
  %198 = load <4 x float>, ptr %local18, align 16
  %199 = extractelement <4 x float> %198, i32 0
  %200 = extractelement <4 x float> %198, i32 1
  %201 = extractelement <4 x float> %198, i32 2
  %202 = extractelement <4 x float> %198, i32 3
  %203 = insertelement <4 x float> undef, float %199, i32 0
  %204 = insertelement <4 x float> %203, float %200, i32 1
  %205 = insertelement <4 x float> %204, float %201, i32 2
  %206 = insertelement <4 x float> %205, float %202, i32 3
  %207 = mul nsw i32 %197, 4
  %208 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %207
  store <4 x float> %206, ptr addrspace(3) %208, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %head

head:                                             ; preds = %next, %entry
  %209 = phi i64 [ 0, %entry ], [ %215, %next ]
  %210 = icmp slt i64 %209, %11
  br i1 %210, label %turn, label %exit

turn:                                             ; preds = %head
  %211 = and i64 %209, 1
  %212 = trunc i64 %211 to i32
  %213 = add nsw i64 %209, 1
  %214 = icmp slt i64 %213, %11
  br i1 %214, label %then, label %behind

next:                                             ; preds = %behind87
  %215 = add nsw i64 %209, 1
  br label %head

exit:                                             ; preds = %head
  %216 = lshr i64 %2, 7
  %217 = mul i64 128, %4
  %218 = lshr i64 %4, 7
  %219 = sext i32 %7 to i64
  %220 = mul i64 %219, %217
  %221 = sext i32 %6 to i64
  %222 = mul nsw i64 %221, 128
  %223 = add i64 %220, %222
  %224 = mul nsw i32 %10, 4
  %225 = mul nsw i32 %9, 4
  %226 = load float, ptr %local4, align 4
  %227 = sext i32 %224 to i64
  %228 = mul i64 %227, %4
  %229 = sext i32 %225 to i64
  %230 = add i64 %228, %229
  %231 = add i64 %223, %230
  %232 = mul i64 %231, 4
  %233 = getelementptr i8, ptr addrspace(1) %5, i64 %232
  store float %226, ptr addrspace(1) %233, align 4
  %234 = mul nsw i32 %10, 4
  %235 = mul nsw i32 %9, 4
  %236 = add nsw i32 %235, 1
  %237 = load float, ptr %local430, align 4
  %238 = sext i32 %234 to i64
  %239 = mul i64 %238, %4
  %240 = sext i32 %236 to i64
  %241 = add i64 %239, %240
  %242 = sext i32 %235 to i64
  %243 = add i64 %239, %242
  %244 = add i64 %223, %241
  %245 = add i64 %223, %243
  %246 = mul i64 %244, 4
  %247 = mul i64 %245, 4
  %248 = getelementptr i8, ptr addrspace(1) %5, i64 %247
  %249 = getelementptr i8, ptr addrspace(1) %248, i64 4
  store float %237, ptr addrspace(1) %249, align 4
  %250 = mul nsw i32 %10, 4
  %251 = mul nsw i32 %9, 4
  %252 = add nsw i32 %251, 2
  %253 = load float, ptr %local438, align 4
  %254 = sext i32 %250 to i64
  %255 = mul i64 %254, %4
  %256 = sext i32 %252 to i64
  %257 = add i64 %255, %256
  %258 = sext i32 %251 to i64
  %259 = add i64 %255, %258
  %260 = add i64 %223, %257
  %261 = add i64 %223, %259
  %262 = mul i64 %260, 4
  %263 = mul i64 %261, 4
  %264 = getelementptr i8, ptr addrspace(1) %5, i64 %263
  %265 = getelementptr i8, ptr addrspace(1) %264, i64 8
  store float %253, ptr addrspace(1) %265, align 4
  %266 = mul nsw i32 %10, 4
  %267 = mul nsw i32 %9, 4
  %268 = add nsw i32 %267, 3
  %269 = load float, ptr %local446, align 4
  %270 = sext i32 %266 to i64
  %271 = mul i64 %270, %4
  %272 = sext i32 %268 to i64
  %273 = add i64 %271, %272
  %274 = sext i32 %267 to i64
  %275 = add i64 %271, %274
  %276 = add i64 %223, %273
  %277 = add i64 %223, %275
  %278 = mul i64 %276, 4
  %279 = mul i64 %277, 4
  %280 = getelementptr i8, ptr addrspace(1) %5, i64 %279
  %281 = getelementptr i8, ptr addrspace(1) %280, i64 12
  store float %269, ptr addrspace(1) %281, align 4
  %282 = mul nsw i32 %10, 4
  %283 = mul nsw i32 %9, 4
  %284 = add nsw i32 64, %283
  %285 = load float, ptr %local454, align 4
  %286 = sext i32 %282 to i64
  %287 = mul i64 %286, %4
  %288 = sext i32 %284 to i64
  %289 = add i64 %287, %288
  %290 = sext i32 %283 to i64
  %291 = add i64 %287, %290
  %292 = add i64 %223, %289
  %293 = add i64 %223, %291
  %294 = mul i64 %292, 4
  %295 = mul i64 %293, 4
  %296 = getelementptr i8, ptr addrspace(1) %5, i64 %295
  %297 = getelementptr i8, ptr addrspace(1) %296, i64 256
  store float %285, ptr addrspace(1) %297, align 4
  %298 = mul nsw i32 %10, 4
  %299 = mul nsw i32 %9, 4
  %300 = add nsw i32 64, %299
  %301 = add nsw i32 %300, 1
  %302 = load float, ptr %local462, align 4
  %303 = sext i32 %298 to i64
  %304 = mul i64 %303, %4
  %305 = sext i32 %301 to i64
  %306 = add i64 %304, %305
  %307 = sext i32 %299 to i64
  %308 = add i64 %304, %307
  %309 = add i64 %223, %306
  %310 = add i64 %223, %308
  %311 = mul i64 %309, 4
  %312 = mul i64 %310, 4
  %313 = getelementptr i8, ptr addrspace(1) %5, i64 %312
  %314 = getelementptr i8, ptr addrspace(1) %313, i64 260
  store float %302, ptr addrspace(1) %314, align 4
  %315 = mul nsw i32 %10, 4
  %316 = mul nsw i32 %9, 4
  %317 = add nsw i32 64, %316
  %318 = add nsw i32 %317, 2
  %319 = load float, ptr %local470, align 4
  %320 = sext i32 %315 to i64
  %321 = mul i64 %320, %4
  %322 = sext i32 %318 to i64
  %323 = add i64 %321, %322
  %324 = sext i32 %316 to i64
  %325 = add i64 %321, %324
  %326 = add i64 %223, %323
  %327 = add i64 %223, %325
  %328 = mul i64 %326, 4
  %329 = mul i64 %327, 4
  %330 = getelementptr i8, ptr addrspace(1) %5, i64 %329
  %331 = getelementptr i8, ptr addrspace(1) %330, i64 264
  store float %319, ptr addrspace(1) %331, align 4
  %332 = mul nsw i32 %10, 4
  %333 = mul nsw i32 %9, 4
  %334 = add nsw i32 64, %333
  %335 = add nsw i32 %334, 3
  %336 = load float, ptr %local478, align 4
  %337 = sext i32 %332 to i64
  %338 = mul i64 %337, %4
  %339 = sext i32 %335 to i64
  %340 = add i64 %338, %339
  %341 = sext i32 %333 to i64
  %342 = add i64 %338, %341
  %343 = add i64 %223, %340
  %344 = add i64 %223, %342
  %345 = mul i64 %343, 4
  %346 = mul i64 %344, 4
  %347 = getelementptr i8, ptr addrspace(1) %5, i64 %346
  %348 = getelementptr i8, ptr addrspace(1) %347, i64 268
  store float %336, ptr addrspace(1) %348, align 4
  %349 = mul nsw i32 %10, 4
  %350 = add nsw i32 %349, 1
  %351 = mul nsw i32 %9, 4
  %352 = load float, ptr %local423, align 4
  %353 = sext i32 %350 to i64
  %354 = mul i64 %353, %4
  %355 = sext i32 %351 to i64
  %356 = add i64 %354, %355
  %357 = add i64 %223, %356
  %358 = mul i64 %357, 4
  %359 = getelementptr i8, ptr addrspace(1) %5, i64 %358
  store float %352, ptr addrspace(1) %359, align 4
  %360 = mul nsw i32 %10, 4
  %361 = add nsw i32 %360, 1
  %362 = mul nsw i32 %9, 4
  %363 = add nsw i32 %362, 1
  %364 = load float, ptr %local431, align 4
  %365 = sext i32 %361 to i64
  %366 = mul i64 %365, %4
  %367 = sext i32 %363 to i64
  %368 = add i64 %366, %367
  %369 = sext i32 %362 to i64
  %370 = add i64 %366, %369
  %371 = add i64 %223, %368
  %372 = add i64 %223, %370
  %373 = mul i64 %371, 4
  %374 = mul i64 %372, 4
  %375 = getelementptr i8, ptr addrspace(1) %5, i64 %374
  %376 = getelementptr i8, ptr addrspace(1) %375, i64 4
  store float %364, ptr addrspace(1) %376, align 4
  %377 = mul nsw i32 %10, 4
  %378 = add nsw i32 %377, 1
  %379 = mul nsw i32 %9, 4
  %380 = add nsw i32 %379, 2
  %381 = load float, ptr %local439, align 4
  %382 = sext i32 %378 to i64
  %383 = mul i64 %382, %4
  %384 = sext i32 %380 to i64
  %385 = add i64 %383, %384
  %386 = sext i32 %379 to i64
  %387 = add i64 %383, %386
  %388 = add i64 %223, %385
  %389 = add i64 %223, %387
  %390 = mul i64 %388, 4
  %391 = mul i64 %389, 4
  %392 = getelementptr i8, ptr addrspace(1) %5, i64 %391
  %393 = getelementptr i8, ptr addrspace(1) %392, i64 8
  store float %381, ptr addrspace(1) %393, align 4
  %394 = mul nsw i32 %10, 4
  %395 = add nsw i32 %394, 1
  %396 = mul nsw i32 %9, 4
  %397 = add nsw i32 %396, 3
  %398 = load float, ptr %local447, align 4
  %399 = sext i32 %395 to i64
  %400 = mul i64 %399, %4
  %401 = sext i32 %397 to i64
  %402 = add i64 %400, %401
  %403 = sext i32 %396 to i64
  %404 = add i64 %400, %403
  %405 = add i64 %223, %402
  %406 = add i64 %223, %404
  %407 = mul i64 %405, 4
  %408 = mul i64 %406, 4
  %409 = getelementptr i8, ptr addrspace(1) %5, i64 %408
  %410 = getelementptr i8, ptr addrspace(1) %409, i64 12
  store float %398, ptr addrspace(1) %410, align 4
  %411 = mul nsw i32 %10, 4
  %412 = add nsw i32 %411, 1
  %413 = mul nsw i32 %9, 4
  %414 = add nsw i32 64, %413
  %415 = load float, ptr %local455, align 4
  %416 = sext i32 %412 to i64
  %417 = mul i64 %416, %4
  %418 = sext i32 %414 to i64
  %419 = add i64 %417, %418
  %420 = sext i32 %413 to i64
  %421 = add i64 %417, %420
  %422 = add i64 %223, %419
  %423 = add i64 %223, %421
  %424 = mul i64 %422, 4
  %425 = mul i64 %423, 4
  %426 = getelementptr i8, ptr addrspace(1) %5, i64 %425
  %427 = getelementptr i8, ptr addrspace(1) %426, i64 256
  store float %415, ptr addrspace(1) %427, align 4
  %428 = mul nsw i32 %10, 4
  %429 = add nsw i32 %428, 1
  %430 = mul nsw i32 %9, 4
  %431 = add nsw i32 64, %430
  %432 = add nsw i32 %431, 1
  %433 = load float, ptr %local463, align 4
  %434 = sext i32 %429 to i64
  %435 = mul i64 %434, %4
  %436 = sext i32 %432 to i64
  %437 = add i64 %435, %436
  %438 = sext i32 %430 to i64
  %439 = add i64 %435, %438
  %440 = add i64 %223, %437
  %441 = add i64 %223, %439
  %442 = mul i64 %440, 4
  %443 = mul i64 %441, 4
  %444 = getelementptr i8, ptr addrspace(1) %5, i64 %443
  %445 = getelementptr i8, ptr addrspace(1) %444, i64 260
  store float %433, ptr addrspace(1) %445, align 4
  %446 = mul nsw i32 %10, 4
  %447 = add nsw i32 %446, 1
  %448 = mul nsw i32 %9, 4
  %449 = add nsw i32 64, %448
  %450 = add nsw i32 %449, 2
  %451 = load float, ptr %local471, align 4
  %452 = sext i32 %447 to i64
  %453 = mul i64 %452, %4
  %454 = sext i32 %450 to i64
  %455 = add i64 %453, %454
  %456 = sext i32 %448 to i64
  %457 = add i64 %453, %456
  %458 = add i64 %223, %455
  %459 = add i64 %223, %457
  %460 = mul i64 %458, 4
  %461 = mul i64 %459, 4
  %462 = getelementptr i8, ptr addrspace(1) %5, i64 %461
  %463 = getelementptr i8, ptr addrspace(1) %462, i64 264
  store float %451, ptr addrspace(1) %463, align 4
  %464 = mul nsw i32 %10, 4
  %465 = add nsw i32 %464, 1
  %466 = mul nsw i32 %9, 4
  %467 = add nsw i32 64, %466
  %468 = add nsw i32 %467, 3
  %469 = load float, ptr %local479, align 4
  %470 = sext i32 %465 to i64
  %471 = mul i64 %470, %4
  %472 = sext i32 %468 to i64
  %473 = add i64 %471, %472
  %474 = sext i32 %466 to i64
  %475 = add i64 %471, %474
  %476 = add i64 %223, %473
  %477 = add i64 %223, %475
  %478 = mul i64 %476, 4
  %479 = mul i64 %477, 4
  %480 = getelementptr i8, ptr addrspace(1) %5, i64 %479
  %481 = getelementptr i8, ptr addrspace(1) %480, i64 268
  store float %469, ptr addrspace(1) %481, align 4
  %482 = mul nsw i32 %10, 4
  %483 = add nsw i32 %482, 2
  %484 = mul nsw i32 %9, 4
  %485 = load float, ptr %local424, align 4
  %486 = sext i32 %483 to i64
  %487 = mul i64 %486, %4
  %488 = sext i32 %484 to i64
  %489 = add i64 %487, %488
  %490 = add i64 %223, %489
  %491 = mul i64 %490, 4
  %492 = getelementptr i8, ptr addrspace(1) %5, i64 %491
  store float %485, ptr addrspace(1) %492, align 4
  %493 = mul nsw i32 %10, 4
  %494 = add nsw i32 %493, 2
  %495 = mul nsw i32 %9, 4
  %496 = add nsw i32 %495, 1
  %497 = load float, ptr %local432, align 4
  %498 = sext i32 %494 to i64
  %499 = mul i64 %498, %4
  %500 = sext i32 %496 to i64
  %501 = add i64 %499, %500
  %502 = sext i32 %495 to i64
  %503 = add i64 %499, %502
  %504 = add i64 %223, %501
  %505 = add i64 %223, %503
  %506 = mul i64 %504, 4
  %507 = mul i64 %505, 4
  %508 = getelementptr i8, ptr addrspace(1) %5, i64 %507
  %509 = getelementptr i8, ptr addrspace(1) %508, i64 4
  store float %497, ptr addrspace(1) %509, align 4
  %510 = mul nsw i32 %10, 4
  %511 = add nsw i32 %510, 2
  %512 = mul nsw i32 %9, 4
  %513 = add nsw i32 %512, 2
  %514 = load float, ptr %local440, align 4
  %515 = sext i32 %511 to i64
  %516 = mul i64 %515, %4
  %517 = sext i32 %513 to i64
  %518 = add i64 %516, %517
  %519 = sext i32 %512 to i64
  %520 = add i64 %516, %519
  %521 = add i64 %223, %518
  %522 = add i64 %223, %520
  %523 = mul i64 %521, 4
  %524 = mul i64 %522, 4
  %525 = getelementptr i8, ptr addrspace(1) %5, i64 %524
  %526 = getelementptr i8, ptr addrspace(1) %525, i64 8
  store float %514, ptr addrspace(1) %526, align 4
  %527 = mul nsw i32 %10, 4
  %528 = add nsw i32 %527, 2
  %529 = mul nsw i32 %9, 4
  %530 = add nsw i32 %529, 3
  %531 = load float, ptr %local448, align 4
  %532 = sext i32 %528 to i64
  %533 = mul i64 %532, %4
  %534 = sext i32 %530 to i64
  %535 = add i64 %533, %534
  %536 = sext i32 %529 to i64
  %537 = add i64 %533, %536
  %538 = add i64 %223, %535
  %539 = add i64 %223, %537
  %540 = mul i64 %538, 4
  %541 = mul i64 %539, 4
  %542 = getelementptr i8, ptr addrspace(1) %5, i64 %541
  %543 = getelementptr i8, ptr addrspace(1) %542, i64 12
  store float %531, ptr addrspace(1) %543, align 4
  %544 = mul nsw i32 %10, 4
  %545 = add nsw i32 %544, 2
  %546 = mul nsw i32 %9, 4
  %547 = add nsw i32 64, %546
  %548 = load float, ptr %local456, align 4
  %549 = sext i32 %545 to i64
  %550 = mul i64 %549, %4
  %551 = sext i32 %547 to i64
  %552 = add i64 %550, %551
  %553 = sext i32 %546 to i64
  %554 = add i64 %550, %553
  %555 = add i64 %223, %552
  %556 = add i64 %223, %554
  %557 = mul i64 %555, 4
  %558 = mul i64 %556, 4
  %559 = getelementptr i8, ptr addrspace(1) %5, i64 %558
  %560 = getelementptr i8, ptr addrspace(1) %559, i64 256
  store float %548, ptr addrspace(1) %560, align 4
  %561 = mul nsw i32 %10, 4
  %562 = add nsw i32 %561, 2
  %563 = mul nsw i32 %9, 4
  %564 = add nsw i32 64, %563
  %565 = add nsw i32 %564, 1
  %566 = load float, ptr %local464, align 4
  %567 = sext i32 %562 to i64
  %568 = mul i64 %567, %4
  %569 = sext i32 %565 to i64
  %570 = add i64 %568, %569
  %571 = sext i32 %563 to i64
  %572 = add i64 %568, %571
  %573 = add i64 %223, %570
  %574 = add i64 %223, %572
  %575 = mul i64 %573, 4
  %576 = mul i64 %574, 4
  %577 = getelementptr i8, ptr addrspace(1) %5, i64 %576
  %578 = getelementptr i8, ptr addrspace(1) %577, i64 260
  store float %566, ptr addrspace(1) %578, align 4
  %579 = mul nsw i32 %10, 4
  %580 = add nsw i32 %579, 2
  %581 = mul nsw i32 %9, 4
  %582 = add nsw i32 64, %581
  %583 = add nsw i32 %582, 2
  %584 = load float, ptr %local472, align 4
  %585 = sext i32 %580 to i64
  %586 = mul i64 %585, %4
  %587 = sext i32 %583 to i64
  %588 = add i64 %586, %587
  %589 = sext i32 %581 to i64
  %590 = add i64 %586, %589
  %591 = add i64 %223, %588
  %592 = add i64 %223, %590
  %593 = mul i64 %591, 4
  %594 = mul i64 %592, 4
  %595 = getelementptr i8, ptr addrspace(1) %5, i64 %594
  %596 = getelementptr i8, ptr addrspace(1) %595, i64 264
  store float %584, ptr addrspace(1) %596, align 4
  %597 = mul nsw i32 %10, 4
  %598 = add nsw i32 %597, 2
  %599 = mul nsw i32 %9, 4
  %600 = add nsw i32 64, %599
  %601 = add nsw i32 %600, 3
  %602 = load float, ptr %local480, align 4
  %603 = sext i32 %598 to i64
  %604 = mul i64 %603, %4
  %605 = sext i32 %601 to i64
  %606 = add i64 %604, %605
  %607 = sext i32 %599 to i64
  %608 = add i64 %604, %607
  %609 = add i64 %223, %606
  %610 = add i64 %223, %608
  %611 = mul i64 %609, 4
  %612 = mul i64 %610, 4
  %613 = getelementptr i8, ptr addrspace(1) %5, i64 %612
  %614 = getelementptr i8, ptr addrspace(1) %613, i64 268
  store float %602, ptr addrspace(1) %614, align 4
  %615 = mul nsw i32 %10, 4
  %616 = add nsw i32 %615, 3
  %617 = mul nsw i32 %9, 4
  %618 = load float, ptr %local425, align 4
  %619 = sext i32 %616 to i64
  %620 = mul i64 %619, %4
  %621 = sext i32 %617 to i64
  %622 = add i64 %620, %621
  %623 = add i64 %223, %622
  %624 = mul i64 %623, 4
  %625 = getelementptr i8, ptr addrspace(1) %5, i64 %624
  store float %618, ptr addrspace(1) %625, align 4
  %626 = mul nsw i32 %10, 4
  %627 = add nsw i32 %626, 3
  %628 = mul nsw i32 %9, 4
  %629 = add nsw i32 %628, 1
  %630 = load float, ptr %local433, align 4
  %631 = sext i32 %627 to i64
  %632 = mul i64 %631, %4
  %633 = sext i32 %629 to i64
  %634 = add i64 %632, %633
  %635 = sext i32 %628 to i64
  %636 = add i64 %632, %635
  %637 = add i64 %223, %634
  %638 = add i64 %223, %636
  %639 = mul i64 %637, 4
  %640 = mul i64 %638, 4
  %641 = getelementptr i8, ptr addrspace(1) %5, i64 %640
  %642 = getelementptr i8, ptr addrspace(1) %641, i64 4
  store float %630, ptr addrspace(1) %642, align 4
  %643 = mul nsw i32 %10, 4
  %644 = add nsw i32 %643, 3
  %645 = mul nsw i32 %9, 4
  %646 = add nsw i32 %645, 2
  %647 = load float, ptr %local441, align 4
  %648 = sext i32 %644 to i64
  %649 = mul i64 %648, %4
  %650 = sext i32 %646 to i64
  %651 = add i64 %649, %650
  %652 = sext i32 %645 to i64
  %653 = add i64 %649, %652
  %654 = add i64 %223, %651
  %655 = add i64 %223, %653
  %656 = mul i64 %654, 4
  %657 = mul i64 %655, 4
  %658 = getelementptr i8, ptr addrspace(1) %5, i64 %657
  %659 = getelementptr i8, ptr addrspace(1) %658, i64 8
  store float %647, ptr addrspace(1) %659, align 4
  %660 = mul nsw i32 %10, 4
  %661 = add nsw i32 %660, 3
  %662 = mul nsw i32 %9, 4
  %663 = add nsw i32 %662, 3
  %664 = load float, ptr %local449, align 4
  %665 = sext i32 %661 to i64
  %666 = mul i64 %665, %4
  %667 = sext i32 %663 to i64
  %668 = add i64 %666, %667
  %669 = sext i32 %662 to i64
  %670 = add i64 %666, %669
  %671 = add i64 %223, %668
  %672 = add i64 %223, %670
  %673 = mul i64 %671, 4
  %674 = mul i64 %672, 4
  %675 = getelementptr i8, ptr addrspace(1) %5, i64 %674
  %676 = getelementptr i8, ptr addrspace(1) %675, i64 12
  store float %664, ptr addrspace(1) %676, align 4
  %677 = mul nsw i32 %10, 4
  %678 = add nsw i32 %677, 3
  %679 = mul nsw i32 %9, 4
  %680 = add nsw i32 64, %679
  %681 = load float, ptr %local457, align 4
  %682 = sext i32 %678 to i64
  %683 = mul i64 %682, %4
  %684 = sext i32 %680 to i64
  %685 = add i64 %683, %684
  %686 = sext i32 %679 to i64
  %687 = add i64 %683, %686
  %688 = add i64 %223, %685
  %689 = add i64 %223, %687
  %690 = mul i64 %688, 4
  %691 = mul i64 %689, 4
  %692 = getelementptr i8, ptr addrspace(1) %5, i64 %691
  %693 = getelementptr i8, ptr addrspace(1) %692, i64 256
  store float %681, ptr addrspace(1) %693, align 4
  %694 = mul nsw i32 %10, 4
  %695 = add nsw i32 %694, 3
  %696 = mul nsw i32 %9, 4
  %697 = add nsw i32 64, %696
  %698 = add nsw i32 %697, 1
  %699 = load float, ptr %local465, align 4
  %700 = sext i32 %695 to i64
  %701 = mul i64 %700, %4
  %702 = sext i32 %698 to i64
  %703 = add i64 %701, %702
  %704 = sext i32 %696 to i64
  %705 = add i64 %701, %704
  %706 = add i64 %223, %703
  %707 = add i64 %223, %705
  %708 = mul i64 %706, 4
  %709 = mul i64 %707, 4
  %710 = getelementptr i8, ptr addrspace(1) %5, i64 %709
  %711 = getelementptr i8, ptr addrspace(1) %710, i64 260
  store float %699, ptr addrspace(1) %711, align 4
  %712 = mul nsw i32 %10, 4
  %713 = add nsw i32 %712, 3
  %714 = mul nsw i32 %9, 4
  %715 = add nsw i32 64, %714
  %716 = add nsw i32 %715, 2
  %717 = load float, ptr %local473, align 4
  %718 = sext i32 %713 to i64
  %719 = mul i64 %718, %4
  %720 = sext i32 %716 to i64
  %721 = add i64 %719, %720
  %722 = sext i32 %714 to i64
  %723 = add i64 %719, %722
  %724 = add i64 %223, %721
  %725 = add i64 %223, %723
  %726 = mul i64 %724, 4
  %727 = mul i64 %725, 4
  %728 = getelementptr i8, ptr addrspace(1) %5, i64 %727
  %729 = getelementptr i8, ptr addrspace(1) %728, i64 264
  store float %717, ptr addrspace(1) %729, align 4
  %730 = mul nsw i32 %10, 4
  %731 = add nsw i32 %730, 3
  %732 = mul nsw i32 %9, 4
  %733 = add nsw i32 64, %732
  %734 = add nsw i32 %733, 3
  %735 = load float, ptr %local481, align 4
  %736 = sext i32 %731 to i64
  %737 = mul i64 %736, %4
  %738 = sext i32 %734 to i64
  %739 = add i64 %737, %738
  %740 = sext i32 %732 to i64
  %741 = add i64 %737, %740
  %742 = add i64 %223, %739
  %743 = add i64 %223, %741
  %744 = mul i64 %742, 4
  %745 = mul i64 %743, 4
  %746 = getelementptr i8, ptr addrspace(1) %5, i64 %745
  %747 = getelementptr i8, ptr addrspace(1) %746, i64 268
  store float %735, ptr addrspace(1) %747, align 4
  %748 = mul nsw i32 %10, 4
  %749 = add nsw i32 64, %748
  %750 = mul nsw i32 %9, 4
  %751 = load float, ptr %local426, align 4
  %752 = sext i32 %749 to i64
  %753 = mul i64 %752, %4
  %754 = sext i32 %750 to i64
  %755 = add i64 %753, %754
  %756 = add i64 %223, %755
  %757 = mul i64 %756, 4
  %758 = getelementptr i8, ptr addrspace(1) %5, i64 %757
  store float %751, ptr addrspace(1) %758, align 4
  %759 = mul nsw i32 %10, 4
  %760 = add nsw i32 64, %759
  %761 = mul nsw i32 %9, 4
  %762 = add nsw i32 %761, 1
  %763 = load float, ptr %local434, align 4
  %764 = sext i32 %760 to i64
  %765 = mul i64 %764, %4
  %766 = sext i32 %762 to i64
  %767 = add i64 %765, %766
  %768 = sext i32 %761 to i64
  %769 = add i64 %765, %768
  %770 = add i64 %223, %767
  %771 = add i64 %223, %769
  %772 = mul i64 %770, 4
  %773 = mul i64 %771, 4
  %774 = getelementptr i8, ptr addrspace(1) %5, i64 %773
  %775 = getelementptr i8, ptr addrspace(1) %774, i64 4
  store float %763, ptr addrspace(1) %775, align 4
  %776 = mul nsw i32 %10, 4
  %777 = add nsw i32 64, %776
  %778 = mul nsw i32 %9, 4
  %779 = add nsw i32 %778, 2
  %780 = load float, ptr %local442, align 4
  %781 = sext i32 %777 to i64
  %782 = mul i64 %781, %4
  %783 = sext i32 %779 to i64
  %784 = add i64 %782, %783
  %785 = sext i32 %778 to i64
  %786 = add i64 %782, %785
  %787 = add i64 %223, %784
  %788 = add i64 %223, %786
  %789 = mul i64 %787, 4
  %790 = mul i64 %788, 4
  %791 = getelementptr i8, ptr addrspace(1) %5, i64 %790
  %792 = getelementptr i8, ptr addrspace(1) %791, i64 8
  store float %780, ptr addrspace(1) %792, align 4
  %793 = mul nsw i32 %10, 4
  %794 = add nsw i32 64, %793
  %795 = mul nsw i32 %9, 4
  %796 = add nsw i32 %795, 3
  %797 = load float, ptr %local450, align 4
  %798 = sext i32 %794 to i64
  %799 = mul i64 %798, %4
  %800 = sext i32 %796 to i64
  %801 = add i64 %799, %800
  %802 = sext i32 %795 to i64
  %803 = add i64 %799, %802
  %804 = add i64 %223, %801
  %805 = add i64 %223, %803
  %806 = mul i64 %804, 4
  %807 = mul i64 %805, 4
  %808 = getelementptr i8, ptr addrspace(1) %5, i64 %807
  %809 = getelementptr i8, ptr addrspace(1) %808, i64 12
  store float %797, ptr addrspace(1) %809, align 4
  %810 = mul nsw i32 %10, 4
  %811 = add nsw i32 64, %810
  %812 = mul nsw i32 %9, 4
  %813 = add nsw i32 64, %812
  %814 = load float, ptr %local458, align 4
  %815 = sext i32 %811 to i64
  %816 = mul i64 %815, %4
  %817 = sext i32 %813 to i64
  %818 = add i64 %816, %817
  %819 = sext i32 %812 to i64
  %820 = add i64 %816, %819
  %821 = add i64 %223, %818
  %822 = add i64 %223, %820
  %823 = mul i64 %821, 4
  %824 = mul i64 %822, 4
  %825 = getelementptr i8, ptr addrspace(1) %5, i64 %824
  %826 = getelementptr i8, ptr addrspace(1) %825, i64 256
  store float %814, ptr addrspace(1) %826, align 4
  %827 = mul nsw i32 %10, 4
  %828 = add nsw i32 64, %827
  %829 = mul nsw i32 %9, 4
  %830 = add nsw i32 64, %829
  %831 = add nsw i32 %830, 1
  %832 = load float, ptr %local466, align 4
  %833 = sext i32 %828 to i64
  %834 = mul i64 %833, %4
  %835 = sext i32 %831 to i64
  %836 = add i64 %834, %835
  %837 = sext i32 %829 to i64
  %838 = add i64 %834, %837
  %839 = add i64 %223, %836
  %840 = add i64 %223, %838
  %841 = mul i64 %839, 4
  %842 = mul i64 %840, 4
  %843 = getelementptr i8, ptr addrspace(1) %5, i64 %842
  %844 = getelementptr i8, ptr addrspace(1) %843, i64 260
  store float %832, ptr addrspace(1) %844, align 4
  %845 = mul nsw i32 %10, 4
  %846 = add nsw i32 64, %845
  %847 = mul nsw i32 %9, 4
  %848 = add nsw i32 64, %847
  %849 = add nsw i32 %848, 2
  %850 = load float, ptr %local474, align 4
  %851 = sext i32 %846 to i64
  %852 = mul i64 %851, %4
  %853 = sext i32 %849 to i64
  %854 = add i64 %852, %853
  %855 = sext i32 %847 to i64
  %856 = add i64 %852, %855
  %857 = add i64 %223, %854
  %858 = add i64 %223, %856
  %859 = mul i64 %857, 4
  %860 = mul i64 %858, 4
  %861 = getelementptr i8, ptr addrspace(1) %5, i64 %860
  %862 = getelementptr i8, ptr addrspace(1) %861, i64 264
  store float %850, ptr addrspace(1) %862, align 4
  %863 = mul nsw i32 %10, 4
  %864 = add nsw i32 64, %863
  %865 = mul nsw i32 %9, 4
  %866 = add nsw i32 64, %865
  %867 = add nsw i32 %866, 3
  %868 = load float, ptr %local482, align 4
  %869 = sext i32 %864 to i64
  %870 = mul i64 %869, %4
  %871 = sext i32 %867 to i64
  %872 = add i64 %870, %871
  %873 = sext i32 %865 to i64
  %874 = add i64 %870, %873
  %875 = add i64 %223, %872
  %876 = add i64 %223, %874
  %877 = mul i64 %875, 4
  %878 = mul i64 %876, 4
  %879 = getelementptr i8, ptr addrspace(1) %5, i64 %878
  %880 = getelementptr i8, ptr addrspace(1) %879, i64 268
  store float %868, ptr addrspace(1) %880, align 4
  %881 = mul nsw i32 %10, 4
  %882 = add nsw i32 64, %881
  %883 = add nsw i32 %882, 1
  %884 = mul nsw i32 %9, 4
  %885 = load float, ptr %local427, align 4
  %886 = sext i32 %883 to i64
  %887 = mul i64 %886, %4
  %888 = sext i32 %884 to i64
  %889 = add i64 %887, %888
  %890 = add i64 %223, %889
  %891 = mul i64 %890, 4
  %892 = getelementptr i8, ptr addrspace(1) %5, i64 %891
  store float %885, ptr addrspace(1) %892, align 4
  %893 = mul nsw i32 %10, 4
  %894 = add nsw i32 64, %893
  %895 = add nsw i32 %894, 1
  %896 = mul nsw i32 %9, 4
  %897 = add nsw i32 %896, 1
  %898 = load float, ptr %local435, align 4
  %899 = sext i32 %895 to i64
  %900 = mul i64 %899, %4
  %901 = sext i32 %897 to i64
  %902 = add i64 %900, %901
  %903 = sext i32 %896 to i64
  %904 = add i64 %900, %903
  %905 = add i64 %223, %902
  %906 = add i64 %223, %904
  %907 = mul i64 %905, 4
  %908 = mul i64 %906, 4
  %909 = getelementptr i8, ptr addrspace(1) %5, i64 %908
  %910 = getelementptr i8, ptr addrspace(1) %909, i64 4
  store float %898, ptr addrspace(1) %910, align 4
  %911 = mul nsw i32 %10, 4
  %912 = add nsw i32 64, %911
  %913 = add nsw i32 %912, 1
  %914 = mul nsw i32 %9, 4
  %915 = add nsw i32 %914, 2
  %916 = load float, ptr %local443, align 4
  %917 = sext i32 %913 to i64
  %918 = mul i64 %917, %4
  %919 = sext i32 %915 to i64
  %920 = add i64 %918, %919
  %921 = sext i32 %914 to i64
  %922 = add i64 %918, %921
  %923 = add i64 %223, %920
  %924 = add i64 %223, %922
  %925 = mul i64 %923, 4
  %926 = mul i64 %924, 4
  %927 = getelementptr i8, ptr addrspace(1) %5, i64 %926
  %928 = getelementptr i8, ptr addrspace(1) %927, i64 8
  store float %916, ptr addrspace(1) %928, align 4
  %929 = mul nsw i32 %10, 4
  %930 = add nsw i32 64, %929
  %931 = add nsw i32 %930, 1
  %932 = mul nsw i32 %9, 4
  %933 = add nsw i32 %932, 3
  %934 = load float, ptr %local451, align 4
  %935 = sext i32 %931 to i64
  %936 = mul i64 %935, %4
  %937 = sext i32 %933 to i64
  %938 = add i64 %936, %937
  %939 = sext i32 %932 to i64
  %940 = add i64 %936, %939
  %941 = add i64 %223, %938
  %942 = add i64 %223, %940
  %943 = mul i64 %941, 4
  %944 = mul i64 %942, 4
  %945 = getelementptr i8, ptr addrspace(1) %5, i64 %944
  %946 = getelementptr i8, ptr addrspace(1) %945, i64 12
  store float %934, ptr addrspace(1) %946, align 4
  %947 = mul nsw i32 %10, 4
  %948 = add nsw i32 64, %947
  %949 = add nsw i32 %948, 1
  %950 = mul nsw i32 %9, 4
  %951 = add nsw i32 64, %950
  %952 = load float, ptr %local459, align 4
  %953 = sext i32 %949 to i64
  %954 = mul i64 %953, %4
  %955 = sext i32 %951 to i64
  %956 = add i64 %954, %955
  %957 = sext i32 %950 to i64
  %958 = add i64 %954, %957
  %959 = add i64 %223, %956
  %960 = add i64 %223, %958
  %961 = mul i64 %959, 4
  %962 = mul i64 %960, 4
  %963 = getelementptr i8, ptr addrspace(1) %5, i64 %962
  %964 = getelementptr i8, ptr addrspace(1) %963, i64 256
  store float %952, ptr addrspace(1) %964, align 4
  %965 = mul nsw i32 %10, 4
  %966 = add nsw i32 64, %965
  %967 = add nsw i32 %966, 1
  %968 = mul nsw i32 %9, 4
  %969 = add nsw i32 64, %968
  %970 = add nsw i32 %969, 1
  %971 = load float, ptr %local467, align 4
  %972 = sext i32 %967 to i64
  %973 = mul i64 %972, %4
  %974 = sext i32 %970 to i64
  %975 = add i64 %973, %974
  %976 = sext i32 %968 to i64
  %977 = add i64 %973, %976
  %978 = add i64 %223, %975
  %979 = add i64 %223, %977
  %980 = mul i64 %978, 4
  %981 = mul i64 %979, 4
  %982 = getelementptr i8, ptr addrspace(1) %5, i64 %981
  %983 = getelementptr i8, ptr addrspace(1) %982, i64 260
  store float %971, ptr addrspace(1) %983, align 4
  %984 = mul nsw i32 %10, 4
  %985 = add nsw i32 64, %984
  %986 = add nsw i32 %985, 1
  %987 = mul nsw i32 %9, 4
  %988 = add nsw i32 64, %987
  %989 = add nsw i32 %988, 2
  %990 = load float, ptr %local475, align 4
  %991 = sext i32 %986 to i64
  %992 = mul i64 %991, %4
  %993 = sext i32 %989 to i64
  %994 = add i64 %992, %993
  %995 = sext i32 %987 to i64
  %996 = add i64 %992, %995
  %997 = add i64 %223, %994
  %998 = add i64 %223, %996
  %999 = mul i64 %997, 4
  %1000 = mul i64 %998, 4
  %1001 = getelementptr i8, ptr addrspace(1) %5, i64 %1000
  %1002 = getelementptr i8, ptr addrspace(1) %1001, i64 264
  store float %990, ptr addrspace(1) %1002, align 4
  %1003 = mul nsw i32 %10, 4
  %1004 = add nsw i32 64, %1003
  %1005 = add nsw i32 %1004, 1
  %1006 = mul nsw i32 %9, 4
  %1007 = add nsw i32 64, %1006
  %1008 = add nsw i32 %1007, 3
  %1009 = load float, ptr %local483, align 4
  %1010 = sext i32 %1005 to i64
  %1011 = mul i64 %1010, %4
  %1012 = sext i32 %1008 to i64
  %1013 = add i64 %1011, %1012
  %1014 = sext i32 %1006 to i64
  %1015 = add i64 %1011, %1014
  %1016 = add i64 %223, %1013
  %1017 = add i64 %223, %1015
  %1018 = mul i64 %1016, 4
  %1019 = mul i64 %1017, 4
  %1020 = getelementptr i8, ptr addrspace(1) %5, i64 %1019
  %1021 = getelementptr i8, ptr addrspace(1) %1020, i64 268
  store float %1009, ptr addrspace(1) %1021, align 4
  %1022 = mul nsw i32 %10, 4
  %1023 = add nsw i32 64, %1022
  %1024 = add nsw i32 %1023, 2
  %1025 = mul nsw i32 %9, 4
  %1026 = load float, ptr %local428, align 4
  %1027 = sext i32 %1024 to i64
  %1028 = mul i64 %1027, %4
  %1029 = sext i32 %1025 to i64
  %1030 = add i64 %1028, %1029
  %1031 = add i64 %223, %1030
  %1032 = mul i64 %1031, 4
  %1033 = getelementptr i8, ptr addrspace(1) %5, i64 %1032
  store float %1026, ptr addrspace(1) %1033, align 4
  %1034 = mul nsw i32 %10, 4
  %1035 = add nsw i32 64, %1034
  %1036 = add nsw i32 %1035, 2
  %1037 = mul nsw i32 %9, 4
  %1038 = add nsw i32 %1037, 1
  %1039 = load float, ptr %local436, align 4
  %1040 = sext i32 %1036 to i64
  %1041 = mul i64 %1040, %4
  %1042 = sext i32 %1038 to i64
  %1043 = add i64 %1041, %1042
  %1044 = sext i32 %1037 to i64
  %1045 = add i64 %1041, %1044
  %1046 = add i64 %223, %1043
  %1047 = add i64 %223, %1045
  %1048 = mul i64 %1046, 4
  %1049 = mul i64 %1047, 4
  %1050 = getelementptr i8, ptr addrspace(1) %5, i64 %1049
  %1051 = getelementptr i8, ptr addrspace(1) %1050, i64 4
  store float %1039, ptr addrspace(1) %1051, align 4
  %1052 = mul nsw i32 %10, 4
  %1053 = add nsw i32 64, %1052
  %1054 = add nsw i32 %1053, 2
  %1055 = mul nsw i32 %9, 4
  %1056 = add nsw i32 %1055, 2
  %1057 = load float, ptr %local444, align 4
  %1058 = sext i32 %1054 to i64
  %1059 = mul i64 %1058, %4
  %1060 = sext i32 %1056 to i64
  %1061 = add i64 %1059, %1060
  %1062 = sext i32 %1055 to i64
  %1063 = add i64 %1059, %1062
  %1064 = add i64 %223, %1061
  %1065 = add i64 %223, %1063
  %1066 = mul i64 %1064, 4
  %1067 = mul i64 %1065, 4
  %1068 = getelementptr i8, ptr addrspace(1) %5, i64 %1067
  %1069 = getelementptr i8, ptr addrspace(1) %1068, i64 8
  store float %1057, ptr addrspace(1) %1069, align 4
  %1070 = mul nsw i32 %10, 4
  %1071 = add nsw i32 64, %1070
  %1072 = add nsw i32 %1071, 2
  %1073 = mul nsw i32 %9, 4
  %1074 = add nsw i32 %1073, 3
  %1075 = load float, ptr %local452, align 4
  %1076 = sext i32 %1072 to i64
  %1077 = mul i64 %1076, %4
  %1078 = sext i32 %1074 to i64
  %1079 = add i64 %1077, %1078
  %1080 = sext i32 %1073 to i64
  %1081 = add i64 %1077, %1080
  %1082 = add i64 %223, %1079
  %1083 = add i64 %223, %1081
  %1084 = mul i64 %1082, 4
  %1085 = mul i64 %1083, 4
  %1086 = getelementptr i8, ptr addrspace(1) %5, i64 %1085
  %1087 = getelementptr i8, ptr addrspace(1) %1086, i64 12
  store float %1075, ptr addrspace(1) %1087, align 4
  %1088 = mul nsw i32 %10, 4
  %1089 = add nsw i32 64, %1088
  %1090 = add nsw i32 %1089, 2
  %1091 = mul nsw i32 %9, 4
  %1092 = add nsw i32 64, %1091
  %1093 = load float, ptr %local460, align 4
  %1094 = sext i32 %1090 to i64
  %1095 = mul i64 %1094, %4
  %1096 = sext i32 %1092 to i64
  %1097 = add i64 %1095, %1096
  %1098 = sext i32 %1091 to i64
  %1099 = add i64 %1095, %1098
  %1100 = add i64 %223, %1097
  %1101 = add i64 %223, %1099
  %1102 = mul i64 %1100, 4
  %1103 = mul i64 %1101, 4
  %1104 = getelementptr i8, ptr addrspace(1) %5, i64 %1103
  %1105 = getelementptr i8, ptr addrspace(1) %1104, i64 256
  store float %1093, ptr addrspace(1) %1105, align 4
  %1106 = mul nsw i32 %10, 4
  %1107 = add nsw i32 64, %1106
  %1108 = add nsw i32 %1107, 2
  %1109 = mul nsw i32 %9, 4
  %1110 = add nsw i32 64, %1109
  %1111 = add nsw i32 %1110, 1
  %1112 = load float, ptr %local468, align 4
  %1113 = sext i32 %1108 to i64
  %1114 = mul i64 %1113, %4
  %1115 = sext i32 %1111 to i64
  %1116 = add i64 %1114, %1115
  %1117 = sext i32 %1109 to i64
  %1118 = add i64 %1114, %1117
  %1119 = add i64 %223, %1116
  %1120 = add i64 %223, %1118
  %1121 = mul i64 %1119, 4
  %1122 = mul i64 %1120, 4
  %1123 = getelementptr i8, ptr addrspace(1) %5, i64 %1122
  %1124 = getelementptr i8, ptr addrspace(1) %1123, i64 260
  store float %1112, ptr addrspace(1) %1124, align 4
  %1125 = mul nsw i32 %10, 4
  %1126 = add nsw i32 64, %1125
  %1127 = add nsw i32 %1126, 2
  %1128 = mul nsw i32 %9, 4
  %1129 = add nsw i32 64, %1128
  %1130 = add nsw i32 %1129, 2
  %1131 = load float, ptr %local476, align 4
  %1132 = sext i32 %1127 to i64
  %1133 = mul i64 %1132, %4
  %1134 = sext i32 %1130 to i64
  %1135 = add i64 %1133, %1134
  %1136 = sext i32 %1128 to i64
  %1137 = add i64 %1133, %1136
  %1138 = add i64 %223, %1135
  %1139 = add i64 %223, %1137
  %1140 = mul i64 %1138, 4
  %1141 = mul i64 %1139, 4
  %1142 = getelementptr i8, ptr addrspace(1) %5, i64 %1141
  %1143 = getelementptr i8, ptr addrspace(1) %1142, i64 264
  store float %1131, ptr addrspace(1) %1143, align 4
  %1144 = mul nsw i32 %10, 4
  %1145 = add nsw i32 64, %1144
  %1146 = add nsw i32 %1145, 2
  %1147 = mul nsw i32 %9, 4
  %1148 = add nsw i32 64, %1147
  %1149 = add nsw i32 %1148, 3
  %1150 = load float, ptr %local484, align 4
  %1151 = sext i32 %1146 to i64
  %1152 = mul i64 %1151, %4
  %1153 = sext i32 %1149 to i64
  %1154 = add i64 %1152, %1153
  %1155 = sext i32 %1147 to i64
  %1156 = add i64 %1152, %1155
  %1157 = add i64 %223, %1154
  %1158 = add i64 %223, %1156
  %1159 = mul i64 %1157, 4
  %1160 = mul i64 %1158, 4
  %1161 = getelementptr i8, ptr addrspace(1) %5, i64 %1160
  %1162 = getelementptr i8, ptr addrspace(1) %1161, i64 268
  store float %1150, ptr addrspace(1) %1162, align 4
  %1163 = mul nsw i32 %10, 4
  %1164 = add nsw i32 64, %1163
  %1165 = add nsw i32 %1164, 3
  %1166 = mul nsw i32 %9, 4
  %1167 = load float, ptr %local429, align 4
  %1168 = sext i32 %1165 to i64
  %1169 = mul i64 %1168, %4
  %1170 = sext i32 %1166 to i64
  %1171 = add i64 %1169, %1170
  %1172 = add i64 %223, %1171
  %1173 = mul i64 %1172, 4
  %1174 = getelementptr i8, ptr addrspace(1) %5, i64 %1173
  store float %1167, ptr addrspace(1) %1174, align 4
  %1175 = mul nsw i32 %10, 4
  %1176 = add nsw i32 64, %1175
  %1177 = add nsw i32 %1176, 3
  %1178 = mul nsw i32 %9, 4
  %1179 = add nsw i32 %1178, 1
  %1180 = load float, ptr %local437, align 4
  %1181 = sext i32 %1177 to i64
  %1182 = mul i64 %1181, %4
  %1183 = sext i32 %1179 to i64
  %1184 = add i64 %1182, %1183
  %1185 = sext i32 %1178 to i64
  %1186 = add i64 %1182, %1185
  %1187 = add i64 %223, %1184
  %1188 = add i64 %223, %1186
  %1189 = mul i64 %1187, 4
  %1190 = mul i64 %1188, 4
  %1191 = getelementptr i8, ptr addrspace(1) %5, i64 %1190
  %1192 = getelementptr i8, ptr addrspace(1) %1191, i64 4
  store float %1180, ptr addrspace(1) %1192, align 4
  %1193 = mul nsw i32 %10, 4
  %1194 = add nsw i32 64, %1193
  %1195 = add nsw i32 %1194, 3
  %1196 = mul nsw i32 %9, 4
  %1197 = add nsw i32 %1196, 2
  %1198 = load float, ptr %local445, align 4
  %1199 = sext i32 %1195 to i64
  %1200 = mul i64 %1199, %4
  %1201 = sext i32 %1197 to i64
  %1202 = add i64 %1200, %1201
  %1203 = sext i32 %1196 to i64
  %1204 = add i64 %1200, %1203
  %1205 = add i64 %223, %1202
  %1206 = add i64 %223, %1204
  %1207 = mul i64 %1205, 4
  %1208 = mul i64 %1206, 4
  %1209 = getelementptr i8, ptr addrspace(1) %5, i64 %1208
  %1210 = getelementptr i8, ptr addrspace(1) %1209, i64 8
  store float %1198, ptr addrspace(1) %1210, align 4
  %1211 = mul nsw i32 %10, 4
  %1212 = add nsw i32 64, %1211
  %1213 = add nsw i32 %1212, 3
  %1214 = mul nsw i32 %9, 4
  %1215 = add nsw i32 %1214, 3
  %1216 = load float, ptr %local453, align 4
  %1217 = sext i32 %1213 to i64
  %1218 = mul i64 %1217, %4
  %1219 = sext i32 %1215 to i64
  %1220 = add i64 %1218, %1219
  %1221 = sext i32 %1214 to i64
  %1222 = add i64 %1218, %1221
  %1223 = add i64 %223, %1220
  %1224 = add i64 %223, %1222
  %1225 = mul i64 %1223, 4
  %1226 = mul i64 %1224, 4
  %1227 = getelementptr i8, ptr addrspace(1) %5, i64 %1226
  %1228 = getelementptr i8, ptr addrspace(1) %1227, i64 12
  store float %1216, ptr addrspace(1) %1228, align 4
  %1229 = mul nsw i32 %10, 4
  %1230 = add nsw i32 64, %1229
  %1231 = add nsw i32 %1230, 3
  %1232 = mul nsw i32 %9, 4
  %1233 = add nsw i32 64, %1232
  %1234 = load float, ptr %local461, align 4
  %1235 = sext i32 %1231 to i64
  %1236 = mul i64 %1235, %4
  %1237 = sext i32 %1233 to i64
  %1238 = add i64 %1236, %1237
  %1239 = sext i32 %1232 to i64
  %1240 = add i64 %1236, %1239
  %1241 = add i64 %223, %1238
  %1242 = add i64 %223, %1240
  %1243 = mul i64 %1241, 4
  %1244 = mul i64 %1242, 4
  %1245 = getelementptr i8, ptr addrspace(1) %5, i64 %1244
  %1246 = getelementptr i8, ptr addrspace(1) %1245, i64 256
  store float %1234, ptr addrspace(1) %1246, align 4
  %1247 = mul nsw i32 %10, 4
  %1248 = add nsw i32 64, %1247
  %1249 = add nsw i32 %1248, 3
  %1250 = mul nsw i32 %9, 4
  %1251 = add nsw i32 64, %1250
  %1252 = add nsw i32 %1251, 1
  %1253 = load float, ptr %local469, align 4
  %1254 = sext i32 %1249 to i64
  %1255 = mul i64 %1254, %4
  %1256 = sext i32 %1252 to i64
  %1257 = add i64 %1255, %1256
  %1258 = sext i32 %1250 to i64
  %1259 = add i64 %1255, %1258
  %1260 = add i64 %223, %1257
  %1261 = add i64 %223, %1259
  %1262 = mul i64 %1260, 4
  %1263 = mul i64 %1261, 4
  %1264 = getelementptr i8, ptr addrspace(1) %5, i64 %1263
  %1265 = getelementptr i8, ptr addrspace(1) %1264, i64 260
  store float %1253, ptr addrspace(1) %1265, align 4
  %1266 = mul nsw i32 %10, 4
  %1267 = add nsw i32 64, %1266
  %1268 = add nsw i32 %1267, 3
  %1269 = mul nsw i32 %9, 4
  %1270 = add nsw i32 64, %1269
  %1271 = add nsw i32 %1270, 2
  %1272 = load float, ptr %local477, align 4
  %1273 = sext i32 %1268 to i64
  %1274 = mul i64 %1273, %4
  %1275 = sext i32 %1271 to i64
  %1276 = add i64 %1274, %1275
  %1277 = sext i32 %1269 to i64
  %1278 = add i64 %1274, %1277
  %1279 = add i64 %223, %1276
  %1280 = add i64 %223, %1278
  %1281 = mul i64 %1279, 4
  %1282 = mul i64 %1280, 4
  %1283 = getelementptr i8, ptr addrspace(1) %5, i64 %1282
  %1284 = getelementptr i8, ptr addrspace(1) %1283, i64 264
  store float %1272, ptr addrspace(1) %1284, align 4
  %1285 = mul nsw i32 %10, 4
  %1286 = add nsw i32 64, %1285
  %1287 = add nsw i32 %1286, 3
  %1288 = mul nsw i32 %9, 4
  %1289 = add nsw i32 64, %1288
  %1290 = add nsw i32 %1289, 3
  %1291 = load float, ptr %local485, align 4
  %1292 = sext i32 %1287 to i64
  %1293 = mul i64 %1292, %4
  %1294 = sext i32 %1290 to i64
  %1295 = add i64 %1293, %1294
  %1296 = sext i32 %1288 to i64
  %1297 = add i64 %1293, %1296
  %1298 = add i64 %223, %1295
  %1299 = add i64 %223, %1297
  %1300 = mul i64 %1298, 4
  %1301 = mul i64 %1299, 4
  %1302 = getelementptr i8, ptr addrspace(1) %5, i64 %1301
  %1303 = getelementptr i8, ptr addrspace(1) %1302, i64 268
  store float %1291, ptr addrspace(1) %1303, align 4
  ret void

then:                                             ; preds = %turn
  %1304 = add nsw i64 %209, 1
  %1305 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %1306 = lshr i64 %2, 7
  %1307 = mul i64 128, %1
  %1308 = lshr i64 %1, 4
  %1309 = sext i32 %7 to i64
  %1310 = mul i64 %1309, %1307
  %1311 = mul nsw i64 %1304, 16
  %1312 = mul i64 %209, 16
  %1313 = add i64 %1310, %1311
  %1314 = add i64 %1310, %1312
  %1315 = lshr i64 %1, 4
  %1316 = mul i64 16, %4
  %1317 = lshr i64 %4, 7
  %1318 = mul i64 %1304, %1316
  %1319 = sext i32 %6 to i64
  %1320 = mul nsw i64 %1319, 128
  %1321 = add i64 %1318, %1320
  %1322 = lshr i32 %1305, 2
  %1323 = and i32 %1305, 3
  %1324 = sext i32 %1322 to i64
  %1325 = mul i64 %1324, %1
  %1326 = mul nsw i32 %1323, 4
  %1327 = sext i32 %1326 to i64
  %1328 = add i64 %1325, %1327
  %1329 = add i64 %1313, %1328
  %1330 = add i64 %1314, %1328
  %1331 = mul i64 %1329, 4
  %1332 = mul i64 %1330, 4
  %1333 = getelementptr i8, ptr addrspace(1) %0, i64 %1332
  %1334 = getelementptr i8, ptr addrspace(1) %1333, i64 64
  %1335 = load <4 x float>, ptr addrspace(1) %1334, align 16
  %1336 = extractelement <4 x float> %1335, i32 0
  %1337 = extractelement <4 x float> %1335, i32 1
  %1338 = extractelement <4 x float> %1335, i32 2
  %1339 = extractelement <4 x float> %1335, i32 3
  %1340 = insertelement <4 x float> undef, float %1336, i32 0
  %1341 = insertelement <4 x float> %1340, float %1337, i32 1
  %1342 = insertelement <4 x float> %1341, float %1338, i32 2
  %1343 = insertelement <4 x float> %1342, float %1339, i32 3
  store float %1336, ptr %local0, align 4
  store float %1337, ptr %local01, align 4
  store float %1338, ptr %local02, align 4
  store float %1339, ptr %local03, align 4
  %1344 = add nsw i32 %1305, 256
  %1345 = lshr i32 %1344, 2
  %1346 = and i32 %1344, 3
  %1347 = sext i32 %1345 to i64
  %1348 = mul i64 %1347, %1
  %1349 = mul nsw i32 %1346, 4
  %1350 = sext i32 %1349 to i64
  %1351 = add i64 %1348, %1350
  %1352 = add i64 %1313, %1351
  %1353 = add i64 %1314, %1351
  %1354 = mul i64 %1352, 4
  %1355 = mul i64 %1353, 4
  %1356 = getelementptr i8, ptr addrspace(1) %0, i64 %1355
  %1357 = getelementptr i8, ptr addrspace(1) %1356, i64 64
  %1358 = load <4 x float>, ptr addrspace(1) %1357, align 16
  %1359 = extractelement <4 x float> %1358, i32 0
  %1360 = extractelement <4 x float> %1358, i32 1
  %1361 = extractelement <4 x float> %1358, i32 2
  %1362 = extractelement <4 x float> %1358, i32 3
  %1363 = insertelement <4 x float> undef, float %1359, i32 0
  %1364 = insertelement <4 x float> %1363, float %1360, i32 1
  %1365 = insertelement <4 x float> %1364, float %1361, i32 2
  %1366 = insertelement <4 x float> %1365, float %1362, i32 3
  store float %1359, ptr %local04, align 4
  store float %1360, ptr %local05, align 4
  store float %1361, ptr %local06, align 4
  store float %1362, ptr %local07, align 4
  %1367 = lshr i32 %1305, 5
  %1368 = and i32 %1305, 31
  %1369 = sext i32 %1367 to i64
  %1370 = mul i64 %1369, %4
  %1371 = mul nsw i32 %1368, 4
  %1372 = sext i32 %1371 to i64
  %1373 = add i64 %1370, %1372
  %1374 = add i64 %1321, %1373
  %1375 = mul i64 %1374, 4
  %1376 = getelementptr i8, ptr addrspace(1) %3, i64 %1375
  %1377 = load <4 x float>, ptr addrspace(1) %1376, align 16
  %1378 = extractelement <4 x float> %1377, i32 0
  %1379 = extractelement <4 x float> %1377, i32 1
  %1380 = extractelement <4 x float> %1377, i32 2
  %1381 = extractelement <4 x float> %1377, i32 3
  %1382 = insertelement <4 x float> undef, float %1378, i32 0
  %1383 = insertelement <4 x float> %1382, float %1379, i32 1
  %1384 = insertelement <4 x float> %1383, float %1380, i32 2
  %1385 = insertelement <4 x float> %1384, float %1381, i32 3
  store <4 x float> %1385, ptr %local1, align 16
  %1386 = add nsw i32 %1305, 256
  %1387 = lshr i32 %1386, 5
  %1388 = and i32 %1386, 31
  %1389 = sext i32 %1387 to i64
  %1390 = mul i64 %1389, %4
  %1391 = mul nsw i32 %1388, 4
  %1392 = sext i32 %1391 to i64
  %1393 = add i64 %1390, %1392
  %1394 = add i64 %1321, %1393
  %1395 = mul i64 %1394, 4
  %1396 = getelementptr i8, ptr addrspace(1) %3, i64 %1395
  %1397 = load <4 x float>, ptr addrspace(1) %1396, align 16
  %1398 = extractelement <4 x float> %1397, i32 0
  %1399 = extractelement <4 x float> %1397, i32 1
  %1400 = extractelement <4 x float> %1397, i32 2
  %1401 = extractelement <4 x float> %1397, i32 3
  %1402 = insertelement <4 x float> undef, float %1398, i32 0
  %1403 = insertelement <4 x float> %1402, float %1399, i32 1
  %1404 = insertelement <4 x float> %1403, float %1400, i32 2
  %1405 = insertelement <4 x float> %1404, float %1401, i32 3
  store <4 x float> %1405, ptr %local18, align 16
  br label %behind

behind:                                           ; preds = %then, %turn
  %1406 = mul nsw i32 %212, 2112
  %1407 = mul nsw i32 %10, 4
  %1408 = add nsw i32 %1406, %1407
  %1409 = mul nsw i32 %1408, 4
  %1410 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %1409
  %1411 = load <4 x float>, ptr addrspace(3) %1410, align 16
  %1412 = extractelement <4 x float> %1411, i32 0
  %1413 = extractelement <4 x float> %1411, i32 1
  %1414 = extractelement <4 x float> %1411, i32 2
  %1415 = extractelement <4 x float> %1411, i32 3
  %1416 = insertelement <4 x float> undef, float %1412, i32 0
  %1417 = insertelement <4 x float> %1416, float %1413, i32 1
  %1418 = insertelement <4 x float> %1417, float %1414, i32 2
  %1419 = insertelement <4 x float> %1418, float %1415, i32 3
  store float %1412, ptr %local2, align 4
  store float %1413, ptr %local29, align 4
  store float %1414, ptr %local210, align 4
  store float %1415, ptr %local211, align 4
  %1420 = mul nsw i32 %212, 2112
  %1421 = add nsw i32 16, %10
  %1422 = mul nsw i32 %1421, 4
  %1423 = mul i32 %10, 4
  %1424 = add nsw i32 %1420, %1422
  %1425 = add i32 %1420, %1423
  %1426 = mul nsw i32 %1424, 4
  %1427 = mul i32 %1425, 4
  %1428 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %1427
  %1429 = getelementptr i8, ptr addrspace(3) %1428, i64 256
  %1430 = load <4 x float>, ptr addrspace(3) %1429, align 16
  %1431 = extractelement <4 x float> %1430, i32 0
  %1432 = extractelement <4 x float> %1430, i32 1
  %1433 = extractelement <4 x float> %1430, i32 2
  %1434 = extractelement <4 x float> %1430, i32 3
  %1435 = insertelement <4 x float> undef, float %1431, i32 0
  %1436 = insertelement <4 x float> %1435, float %1432, i32 1
  %1437 = insertelement <4 x float> %1436, float %1433, i32 2
  %1438 = insertelement <4 x float> %1437, float %1434, i32 3
  store float %1431, ptr %local212, align 4
  store float %1432, ptr %local213, align 4
  store float %1433, ptr %local214, align 4
  store float %1434, ptr %local215, align 4
  %1439 = mul nsw i32 %212, 2048
  %1440 = mul nsw i32 %9, 4
  %1441 = add nsw i32 %1439, %1440
  %1442 = mul nsw i32 %1441, 4
  %1443 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %1442
  %1444 = load <4 x float>, ptr addrspace(3) %1443, align 16
  %1445 = extractelement <4 x float> %1444, i32 0
  %1446 = extractelement <4 x float> %1444, i32 1
  %1447 = extractelement <4 x float> %1444, i32 2
  %1448 = extractelement <4 x float> %1444, i32 3
  %1449 = insertelement <4 x float> undef, float %1445, i32 0
  %1450 = insertelement <4 x float> %1449, float %1446, i32 1
  %1451 = insertelement <4 x float> %1450, float %1447, i32 2
  %1452 = insertelement <4 x float> %1451, float %1448, i32 3
  store float %1445, ptr %local3, align 4
  store float %1446, ptr %local316, align 4
  store float %1447, ptr %local317, align 4
  store float %1448, ptr %local318, align 4
  %1453 = mul nsw i32 %212, 2048
  %1454 = add nsw i32 16, %9
  %1455 = mul nsw i32 %1454, 4
  %1456 = mul i32 %9, 4
  %1457 = add nsw i32 %1453, %1455
  %1458 = add i32 %1453, %1456
  %1459 = mul nsw i32 %1457, 4
  %1460 = mul i32 %1458, 4
  %1461 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %1460
  %1462 = getelementptr i8, ptr addrspace(3) %1461, i64 256
  %1463 = load <4 x float>, ptr addrspace(3) %1462, align 16
  %1464 = extractelement <4 x float> %1463, i32 0
  %1465 = extractelement <4 x float> %1463, i32 1
  %1466 = extractelement <4 x float> %1463, i32 2
  %1467 = extractelement <4 x float> %1463, i32 3
  %1468 = insertelement <4 x float> undef, float %1464, i32 0
  %1469 = insertelement <4 x float> %1468, float %1465, i32 1
  %1470 = insertelement <4 x float> %1469, float %1466, i32 2
  %1471 = insertelement <4 x float> %1470, float %1467, i32 3
  store float %1464, ptr %local319, align 4
  store float %1465, ptr %local320, align 4
  store float %1466, ptr %local321, align 4
  store float %1467, ptr %local322, align 4
  %1472 = load float, ptr %local2, align 4
  %1473 = load float, ptr %local3, align 4
  %1474 = load float, ptr %local4, align 4
  %1475 = call float @llvm.fma.f32(float %1472, float %1473, float %1474)
  store float %1475, ptr %local4, align 4
  %1476 = load float, ptr %local2, align 4
  %1477 = load float, ptr %local316, align 4
  %1478 = load float, ptr %local430, align 4
  %1479 = call float @llvm.fma.f32(float %1476, float %1477, float %1478)
  store float %1479, ptr %local430, align 4
  %1480 = load float, ptr %local2, align 4
  %1481 = load float, ptr %local317, align 4
  %1482 = load float, ptr %local438, align 4
  %1483 = call float @llvm.fma.f32(float %1480, float %1481, float %1482)
  store float %1483, ptr %local438, align 4
  %1484 = load float, ptr %local2, align 4
  %1485 = load float, ptr %local318, align 4
  %1486 = load float, ptr %local446, align 4
  %1487 = call float @llvm.fma.f32(float %1484, float %1485, float %1486)
  store float %1487, ptr %local446, align 4
  %1488 = load float, ptr %local2, align 4
  %1489 = load float, ptr %local319, align 4
  %1490 = load float, ptr %local454, align 4
  %1491 = call float @llvm.fma.f32(float %1488, float %1489, float %1490)
  store float %1491, ptr %local454, align 4
  %1492 = load float, ptr %local2, align 4
  %1493 = load float, ptr %local320, align 4
  %1494 = load float, ptr %local462, align 4
  %1495 = call float @llvm.fma.f32(float %1492, float %1493, float %1494)
  store float %1495, ptr %local462, align 4
  %1496 = load float, ptr %local2, align 4
  %1497 = load float, ptr %local321, align 4
  %1498 = load float, ptr %local470, align 4
  %1499 = call float @llvm.fma.f32(float %1496, float %1497, float %1498)
  store float %1499, ptr %local470, align 4
  %1500 = load float, ptr %local2, align 4
  %1501 = load float, ptr %local322, align 4
  %1502 = load float, ptr %local478, align 4
  %1503 = call float @llvm.fma.f32(float %1500, float %1501, float %1502)
  store float %1503, ptr %local478, align 4
  %1504 = load float, ptr %local29, align 4
  %1505 = load float, ptr %local3, align 4
  %1506 = load float, ptr %local423, align 4
  %1507 = call float @llvm.fma.f32(float %1504, float %1505, float %1506)
  store float %1507, ptr %local423, align 4
  %1508 = load float, ptr %local29, align 4
  %1509 = load float, ptr %local316, align 4
  %1510 = load float, ptr %local431, align 4
  %1511 = call float @llvm.fma.f32(float %1508, float %1509, float %1510)
  store float %1511, ptr %local431, align 4
  %1512 = load float, ptr %local29, align 4
  %1513 = load float, ptr %local317, align 4
  %1514 = load float, ptr %local439, align 4
  %1515 = call float @llvm.fma.f32(float %1512, float %1513, float %1514)
  store float %1515, ptr %local439, align 4
  %1516 = load float, ptr %local29, align 4
  %1517 = load float, ptr %local318, align 4
  %1518 = load float, ptr %local447, align 4
  %1519 = call float @llvm.fma.f32(float %1516, float %1517, float %1518)
  store float %1519, ptr %local447, align 4
  %1520 = load float, ptr %local29, align 4
  %1521 = load float, ptr %local319, align 4
  %1522 = load float, ptr %local455, align 4
  %1523 = call float @llvm.fma.f32(float %1520, float %1521, float %1522)
  store float %1523, ptr %local455, align 4
  %1524 = load float, ptr %local29, align 4
  %1525 = load float, ptr %local320, align 4
  %1526 = load float, ptr %local463, align 4
  %1527 = call float @llvm.fma.f32(float %1524, float %1525, float %1526)
  store float %1527, ptr %local463, align 4
  %1528 = load float, ptr %local29, align 4
  %1529 = load float, ptr %local321, align 4
  %1530 = load float, ptr %local471, align 4
  %1531 = call float @llvm.fma.f32(float %1528, float %1529, float %1530)
  store float %1531, ptr %local471, align 4
  %1532 = load float, ptr %local29, align 4
  %1533 = load float, ptr %local322, align 4
  %1534 = load float, ptr %local479, align 4
  %1535 = call float @llvm.fma.f32(float %1532, float %1533, float %1534)
  store float %1535, ptr %local479, align 4
  %1536 = load float, ptr %local210, align 4
  %1537 = load float, ptr %local3, align 4
  %1538 = load float, ptr %local424, align 4
  %1539 = call float @llvm.fma.f32(float %1536, float %1537, float %1538)
  store float %1539, ptr %local424, align 4
  %1540 = load float, ptr %local210, align 4
  %1541 = load float, ptr %local316, align 4
  %1542 = load float, ptr %local432, align 4
  %1543 = call float @llvm.fma.f32(float %1540, float %1541, float %1542)
  store float %1543, ptr %local432, align 4
  %1544 = load float, ptr %local210, align 4
  %1545 = load float, ptr %local317, align 4
  %1546 = load float, ptr %local440, align 4
  %1547 = call float @llvm.fma.f32(float %1544, float %1545, float %1546)
  store float %1547, ptr %local440, align 4
  %1548 = load float, ptr %local210, align 4
  %1549 = load float, ptr %local318, align 4
  %1550 = load float, ptr %local448, align 4
  %1551 = call float @llvm.fma.f32(float %1548, float %1549, float %1550)
  store float %1551, ptr %local448, align 4
  %1552 = load float, ptr %local210, align 4
  %1553 = load float, ptr %local319, align 4
  %1554 = load float, ptr %local456, align 4
  %1555 = call float @llvm.fma.f32(float %1552, float %1553, float %1554)
  store float %1555, ptr %local456, align 4
  %1556 = load float, ptr %local210, align 4
  %1557 = load float, ptr %local320, align 4
  %1558 = load float, ptr %local464, align 4
  %1559 = call float @llvm.fma.f32(float %1556, float %1557, float %1558)
  store float %1559, ptr %local464, align 4
  %1560 = load float, ptr %local210, align 4
  %1561 = load float, ptr %local321, align 4
  %1562 = load float, ptr %local472, align 4
  %1563 = call float @llvm.fma.f32(float %1560, float %1561, float %1562)
  store float %1563, ptr %local472, align 4
  %1564 = load float, ptr %local210, align 4
  %1565 = load float, ptr %local322, align 4
  %1566 = load float, ptr %local480, align 4
  %1567 = call float @llvm.fma.f32(float %1564, float %1565, float %1566)
  store float %1567, ptr %local480, align 4
  %1568 = load float, ptr %local211, align 4
  %1569 = load float, ptr %local3, align 4
  %1570 = load float, ptr %local425, align 4
  %1571 = call float @llvm.fma.f32(float %1568, float %1569, float %1570)
  store float %1571, ptr %local425, align 4
  %1572 = load float, ptr %local211, align 4
  %1573 = load float, ptr %local316, align 4
  %1574 = load float, ptr %local433, align 4
  %1575 = call float @llvm.fma.f32(float %1572, float %1573, float %1574)
  store float %1575, ptr %local433, align 4
  %1576 = load float, ptr %local211, align 4
  %1577 = load float, ptr %local317, align 4
  %1578 = load float, ptr %local441, align 4
  %1579 = call float @llvm.fma.f32(float %1576, float %1577, float %1578)
  store float %1579, ptr %local441, align 4
  %1580 = load float, ptr %local211, align 4
  %1581 = load float, ptr %local318, align 4
  %1582 = load float, ptr %local449, align 4
  %1583 = call float @llvm.fma.f32(float %1580, float %1581, float %1582)
  store float %1583, ptr %local449, align 4
  %1584 = load float, ptr %local211, align 4
  %1585 = load float, ptr %local319, align 4
  %1586 = load float, ptr %local457, align 4
  %1587 = call float @llvm.fma.f32(float %1584, float %1585, float %1586)
  store float %1587, ptr %local457, align 4
  %1588 = load float, ptr %local211, align 4
  %1589 = load float, ptr %local320, align 4
  %1590 = load float, ptr %local465, align 4
  %1591 = call float @llvm.fma.f32(float %1588, float %1589, float %1590)
  store float %1591, ptr %local465, align 4
  %1592 = load float, ptr %local211, align 4
  %1593 = load float, ptr %local321, align 4
  %1594 = load float, ptr %local473, align 4
  %1595 = call float @llvm.fma.f32(float %1592, float %1593, float %1594)
  store float %1595, ptr %local473, align 4
  %1596 = load float, ptr %local211, align 4
  %1597 = load float, ptr %local322, align 4
  %1598 = load float, ptr %local481, align 4
  %1599 = call float @llvm.fma.f32(float %1596, float %1597, float %1598)
  store float %1599, ptr %local481, align 4
  %1600 = load float, ptr %local212, align 4
  %1601 = load float, ptr %local3, align 4
  %1602 = load float, ptr %local426, align 4
  %1603 = call float @llvm.fma.f32(float %1600, float %1601, float %1602)
  store float %1603, ptr %local426, align 4
  %1604 = load float, ptr %local212, align 4
  %1605 = load float, ptr %local316, align 4
  %1606 = load float, ptr %local434, align 4
  %1607 = call float @llvm.fma.f32(float %1604, float %1605, float %1606)
  store float %1607, ptr %local434, align 4
  %1608 = load float, ptr %local212, align 4
  %1609 = load float, ptr %local317, align 4
  %1610 = load float, ptr %local442, align 4
  %1611 = call float @llvm.fma.f32(float %1608, float %1609, float %1610)
  store float %1611, ptr %local442, align 4
  %1612 = load float, ptr %local212, align 4
  %1613 = load float, ptr %local318, align 4
  %1614 = load float, ptr %local450, align 4
  %1615 = call float @llvm.fma.f32(float %1612, float %1613, float %1614)
  store float %1615, ptr %local450, align 4
  %1616 = load float, ptr %local212, align 4
  %1617 = load float, ptr %local319, align 4
  %1618 = load float, ptr %local458, align 4
  %1619 = call float @llvm.fma.f32(float %1616, float %1617, float %1618)
  store float %1619, ptr %local458, align 4
  %1620 = load float, ptr %local212, align 4
  %1621 = load float, ptr %local320, align 4
  %1622 = load float, ptr %local466, align 4
  %1623 = call float @llvm.fma.f32(float %1620, float %1621, float %1622)
  store float %1623, ptr %local466, align 4
  %1624 = load float, ptr %local212, align 4
  %1625 = load float, ptr %local321, align 4
  %1626 = load float, ptr %local474, align 4
  %1627 = call float @llvm.fma.f32(float %1624, float %1625, float %1626)
  store float %1627, ptr %local474, align 4
  %1628 = load float, ptr %local212, align 4
  %1629 = load float, ptr %local322, align 4
  %1630 = load float, ptr %local482, align 4
  %1631 = call float @llvm.fma.f32(float %1628, float %1629, float %1630)
  store float %1631, ptr %local482, align 4
  %1632 = load float, ptr %local213, align 4
  %1633 = load float, ptr %local3, align 4
  %1634 = load float, ptr %local427, align 4
  %1635 = call float @llvm.fma.f32(float %1632, float %1633, float %1634)
  store float %1635, ptr %local427, align 4
  %1636 = load float, ptr %local213, align 4
  %1637 = load float, ptr %local316, align 4
  %1638 = load float, ptr %local435, align 4
  %1639 = call float @llvm.fma.f32(float %1636, float %1637, float %1638)
  store float %1639, ptr %local435, align 4
  %1640 = load float, ptr %local213, align 4
  %1641 = load float, ptr %local317, align 4
  %1642 = load float, ptr %local443, align 4
  %1643 = call float @llvm.fma.f32(float %1640, float %1641, float %1642)
  store float %1643, ptr %local443, align 4
  %1644 = load float, ptr %local213, align 4
  %1645 = load float, ptr %local318, align 4
  %1646 = load float, ptr %local451, align 4
  %1647 = call float @llvm.fma.f32(float %1644, float %1645, float %1646)
  store float %1647, ptr %local451, align 4
  %1648 = load float, ptr %local213, align 4
  %1649 = load float, ptr %local319, align 4
  %1650 = load float, ptr %local459, align 4
  %1651 = call float @llvm.fma.f32(float %1648, float %1649, float %1650)
  store float %1651, ptr %local459, align 4
  %1652 = load float, ptr %local213, align 4
  %1653 = load float, ptr %local320, align 4
  %1654 = load float, ptr %local467, align 4
  %1655 = call float @llvm.fma.f32(float %1652, float %1653, float %1654)
  store float %1655, ptr %local467, align 4
  %1656 = load float, ptr %local213, align 4
  %1657 = load float, ptr %local321, align 4
  %1658 = load float, ptr %local475, align 4
  %1659 = call float @llvm.fma.f32(float %1656, float %1657, float %1658)
  store float %1659, ptr %local475, align 4
  %1660 = load float, ptr %local213, align 4
  %1661 = load float, ptr %local322, align 4
  %1662 = load float, ptr %local483, align 4
  %1663 = call float @llvm.fma.f32(float %1660, float %1661, float %1662)
  store float %1663, ptr %local483, align 4
  %1664 = load float, ptr %local214, align 4
  %1665 = load float, ptr %local3, align 4
  %1666 = load float, ptr %local428, align 4
  %1667 = call float @llvm.fma.f32(float %1664, float %1665, float %1666)
  store float %1667, ptr %local428, align 4
  %1668 = load float, ptr %local214, align 4
  %1669 = load float, ptr %local316, align 4
  %1670 = load float, ptr %local436, align 4
  %1671 = call float @llvm.fma.f32(float %1668, float %1669, float %1670)
  store float %1671, ptr %local436, align 4
  %1672 = load float, ptr %local214, align 4
  %1673 = load float, ptr %local317, align 4
  %1674 = load float, ptr %local444, align 4
  %1675 = call float @llvm.fma.f32(float %1672, float %1673, float %1674)
  store float %1675, ptr %local444, align 4
  %1676 = load float, ptr %local214, align 4
  %1677 = load float, ptr %local318, align 4
  %1678 = load float, ptr %local452, align 4
  %1679 = call float @llvm.fma.f32(float %1676, float %1677, float %1678)
  store float %1679, ptr %local452, align 4
  %1680 = load float, ptr %local214, align 4
  %1681 = load float, ptr %local319, align 4
  %1682 = load float, ptr %local460, align 4
  %1683 = call float @llvm.fma.f32(float %1680, float %1681, float %1682)
  store float %1683, ptr %local460, align 4
  %1684 = load float, ptr %local214, align 4
  %1685 = load float, ptr %local320, align 4
  %1686 = load float, ptr %local468, align 4
  %1687 = call float @llvm.fma.f32(float %1684, float %1685, float %1686)
  store float %1687, ptr %local468, align 4
  %1688 = load float, ptr %local214, align 4
  %1689 = load float, ptr %local321, align 4
  %1690 = load float, ptr %local476, align 4
  %1691 = call float @llvm.fma.f32(float %1688, float %1689, float %1690)
  store float %1691, ptr %local476, align 4
  %1692 = load float, ptr %local214, align 4
  %1693 = load float, ptr %local322, align 4
  %1694 = load float, ptr %local484, align 4
  %1695 = call float @llvm.fma.f32(float %1692, float %1693, float %1694)
  store float %1695, ptr %local484, align 4
  %1696 = load float, ptr %local215, align 4
  %1697 = load float, ptr %local3, align 4
  %1698 = load float, ptr %local429, align 4
  %1699 = call float @llvm.fma.f32(float %1696, float %1697, float %1698)
  store float %1699, ptr %local429, align 4
  %1700 = load float, ptr %local215, align 4
  %1701 = load float, ptr %local316, align 4
  %1702 = load float, ptr %local437, align 4
  %1703 = call float @llvm.fma.f32(float %1700, float %1701, float %1702)
  store float %1703, ptr %local437, align 4
  %1704 = load float, ptr %local215, align 4
  %1705 = load float, ptr %local317, align 4
  %1706 = load float, ptr %local445, align 4
  %1707 = call float @llvm.fma.f32(float %1704, float %1705, float %1706)
  store float %1707, ptr %local445, align 4
  %1708 = load float, ptr %local215, align 4
  %1709 = load float, ptr %local318, align 4
  %1710 = load float, ptr %local453, align 4
  %1711 = call float @llvm.fma.f32(float %1708, float %1709, float %1710)
  store float %1711, ptr %local453, align 4
  %1712 = load float, ptr %local215, align 4
  %1713 = load float, ptr %local319, align 4
  %1714 = load float, ptr %local461, align 4
  %1715 = call float @llvm.fma.f32(float %1712, float %1713, float %1714)
  store float %1715, ptr %local461, align 4
  %1716 = load float, ptr %local215, align 4
  %1717 = load float, ptr %local320, align 4
  %1718 = load float, ptr %local469, align 4
  %1719 = call float @llvm.fma.f32(float %1716, float %1717, float %1718)
  store float %1719, ptr %local469, align 4
  %1720 = load float, ptr %local215, align 4
  %1721 = load float, ptr %local321, align 4
  %1722 = load float, ptr %local477, align 4
  %1723 = call float @llvm.fma.f32(float %1720, float %1721, float %1722)
  store float %1723, ptr %local477, align 4
  %1724 = load float, ptr %local215, align 4
  %1725 = load float, ptr %local322, align 4
  %1726 = load float, ptr %local485, align 4
  %1727 = call float @llvm.fma.f32(float %1724, float %1725, float %1726)
  store float %1727, ptr %local485, align 4
  %1728 = mul nsw i32 %212, 2112
  %1729 = add nsw i32 132, %1728
  %1730 = mul nsw i32 %10, 4
  %1731 = add nsw i32 %1729, %1730
  %1732 = add i32 %1728, %1730
  %1733 = mul nsw i32 %1731, 4
  %1734 = mul i32 %1732, 4
  %1735 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %1734
  %1736 = getelementptr i8, ptr addrspace(3) %1735, i64 528
  %1737 = load <4 x float>, ptr addrspace(3) %1736, align 16
  %1738 = extractelement <4 x float> %1737, i32 0
  %1739 = extractelement <4 x float> %1737, i32 1
  %1740 = extractelement <4 x float> %1737, i32 2
  %1741 = extractelement <4 x float> %1737, i32 3
  %1742 = insertelement <4 x float> undef, float %1738, i32 0
  %1743 = insertelement <4 x float> %1742, float %1739, i32 1
  %1744 = insertelement <4 x float> %1743, float %1740, i32 2
  %1745 = insertelement <4 x float> %1744, float %1741, i32 3
  store float %1738, ptr %local2, align 4
  store float %1739, ptr %local29, align 4
  store float %1740, ptr %local210, align 4
  store float %1741, ptr %local211, align 4
  %1746 = mul nsw i32 %212, 2112
  %1747 = add nsw i32 132, %1746
  %1748 = add nsw i32 16, %10
  %1749 = mul nsw i32 %1748, 4
  %1750 = mul i32 %10, 4
  %1751 = add nsw i32 %1747, %1749
  %1752 = add i32 %1746, %1750
  %1753 = mul nsw i32 %1751, 4
  %1754 = mul i32 %1752, 4
  %1755 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %1754
  %1756 = getelementptr i8, ptr addrspace(3) %1755, i64 784
  %1757 = load <4 x float>, ptr addrspace(3) %1756, align 16
  %1758 = extractelement <4 x float> %1757, i32 0
  %1759 = extractelement <4 x float> %1757, i32 1
  %1760 = extractelement <4 x float> %1757, i32 2
  %1761 = extractelement <4 x float> %1757, i32 3
  %1762 = insertelement <4 x float> undef, float %1758, i32 0
  %1763 = insertelement <4 x float> %1762, float %1759, i32 1
  %1764 = insertelement <4 x float> %1763, float %1760, i32 2
  %1765 = insertelement <4 x float> %1764, float %1761, i32 3
  store float %1758, ptr %local212, align 4
  store float %1759, ptr %local213, align 4
  store float %1760, ptr %local214, align 4
  store float %1761, ptr %local215, align 4
  %1766 = mul nsw i32 %212, 2048
  %1767 = add nsw i32 128, %1766
  %1768 = mul nsw i32 %9, 4
  %1769 = add nsw i32 %1767, %1768
  %1770 = add i32 %1766, %1768
  %1771 = mul nsw i32 %1769, 4
  %1772 = mul i32 %1770, 4
  %1773 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %1772
  %1774 = getelementptr i8, ptr addrspace(3) %1773, i64 512
  %1775 = load <4 x float>, ptr addrspace(3) %1774, align 16
  %1776 = extractelement <4 x float> %1775, i32 0
  %1777 = extractelement <4 x float> %1775, i32 1
  %1778 = extractelement <4 x float> %1775, i32 2
  %1779 = extractelement <4 x float> %1775, i32 3
  %1780 = insertelement <4 x float> undef, float %1776, i32 0
  %1781 = insertelement <4 x float> %1780, float %1777, i32 1
  %1782 = insertelement <4 x float> %1781, float %1778, i32 2
  %1783 = insertelement <4 x float> %1782, float %1779, i32 3
  store float %1776, ptr %local3, align 4
  store float %1777, ptr %local316, align 4
  store float %1778, ptr %local317, align 4
  store float %1779, ptr %local318, align 4
  %1784 = mul nsw i32 %212, 2048
  %1785 = add nsw i32 128, %1784
  %1786 = add nsw i32 16, %9
  %1787 = mul nsw i32 %1786, 4
  %1788 = mul i32 %9, 4
  %1789 = add nsw i32 %1785, %1787
  %1790 = add i32 %1784, %1788
  %1791 = mul nsw i32 %1789, 4
  %1792 = mul i32 %1790, 4
  %1793 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %1792
  %1794 = getelementptr i8, ptr addrspace(3) %1793, i64 768
  %1795 = load <4 x float>, ptr addrspace(3) %1794, align 16
  %1796 = extractelement <4 x float> %1795, i32 0
  %1797 = extractelement <4 x float> %1795, i32 1
  %1798 = extractelement <4 x float> %1795, i32 2
  %1799 = extractelement <4 x float> %1795, i32 3
  %1800 = insertelement <4 x float> undef, float %1796, i32 0
  %1801 = insertelement <4 x float> %1800, float %1797, i32 1
  %1802 = insertelement <4 x float> %1801, float %1798, i32 2
  %1803 = insertelement <4 x float> %1802, float %1799, i32 3
  store float %1796, ptr %local319, align 4
  store float %1797, ptr %local320, align 4
  store float %1798, ptr %local321, align 4
  store float %1799, ptr %local322, align 4
  %1804 = load float, ptr %local2, align 4
  %1805 = load float, ptr %local3, align 4
  %1806 = load float, ptr %local4, align 4
  %1807 = call float @llvm.fma.f32(float %1804, float %1805, float %1806)
  store float %1807, ptr %local4, align 4
  %1808 = load float, ptr %local2, align 4
  %1809 = load float, ptr %local316, align 4
  %1810 = load float, ptr %local430, align 4
  %1811 = call float @llvm.fma.f32(float %1808, float %1809, float %1810)
  store float %1811, ptr %local430, align 4
  %1812 = load float, ptr %local2, align 4
  %1813 = load float, ptr %local317, align 4
  %1814 = load float, ptr %local438, align 4
  %1815 = call float @llvm.fma.f32(float %1812, float %1813, float %1814)
  store float %1815, ptr %local438, align 4
  %1816 = load float, ptr %local2, align 4
  %1817 = load float, ptr %local318, align 4
  %1818 = load float, ptr %local446, align 4
  %1819 = call float @llvm.fma.f32(float %1816, float %1817, float %1818)
  store float %1819, ptr %local446, align 4
  %1820 = load float, ptr %local2, align 4
  %1821 = load float, ptr %local319, align 4
  %1822 = load float, ptr %local454, align 4
  %1823 = call float @llvm.fma.f32(float %1820, float %1821, float %1822)
  store float %1823, ptr %local454, align 4
  %1824 = load float, ptr %local2, align 4
  %1825 = load float, ptr %local320, align 4
  %1826 = load float, ptr %local462, align 4
  %1827 = call float @llvm.fma.f32(float %1824, float %1825, float %1826)
  store float %1827, ptr %local462, align 4
  %1828 = load float, ptr %local2, align 4
  %1829 = load float, ptr %local321, align 4
  %1830 = load float, ptr %local470, align 4
  %1831 = call float @llvm.fma.f32(float %1828, float %1829, float %1830)
  store float %1831, ptr %local470, align 4
  %1832 = load float, ptr %local2, align 4
  %1833 = load float, ptr %local322, align 4
  %1834 = load float, ptr %local478, align 4
  %1835 = call float @llvm.fma.f32(float %1832, float %1833, float %1834)
  store float %1835, ptr %local478, align 4
  %1836 = load float, ptr %local29, align 4
  %1837 = load float, ptr %local3, align 4
  %1838 = load float, ptr %local423, align 4
  %1839 = call float @llvm.fma.f32(float %1836, float %1837, float %1838)
  store float %1839, ptr %local423, align 4
  %1840 = load float, ptr %local29, align 4
  %1841 = load float, ptr %local316, align 4
  %1842 = load float, ptr %local431, align 4
  %1843 = call float @llvm.fma.f32(float %1840, float %1841, float %1842)
  store float %1843, ptr %local431, align 4
  %1844 = load float, ptr %local29, align 4
  %1845 = load float, ptr %local317, align 4
  %1846 = load float, ptr %local439, align 4
  %1847 = call float @llvm.fma.f32(float %1844, float %1845, float %1846)
  store float %1847, ptr %local439, align 4
  %1848 = load float, ptr %local29, align 4
  %1849 = load float, ptr %local318, align 4
  %1850 = load float, ptr %local447, align 4
  %1851 = call float @llvm.fma.f32(float %1848, float %1849, float %1850)
  store float %1851, ptr %local447, align 4
  %1852 = load float, ptr %local29, align 4
  %1853 = load float, ptr %local319, align 4
  %1854 = load float, ptr %local455, align 4
  %1855 = call float @llvm.fma.f32(float %1852, float %1853, float %1854)
  store float %1855, ptr %local455, align 4
  %1856 = load float, ptr %local29, align 4
  %1857 = load float, ptr %local320, align 4
  %1858 = load float, ptr %local463, align 4
  %1859 = call float @llvm.fma.f32(float %1856, float %1857, float %1858)
  store float %1859, ptr %local463, align 4
  %1860 = load float, ptr %local29, align 4
  %1861 = load float, ptr %local321, align 4
  %1862 = load float, ptr %local471, align 4
  %1863 = call float @llvm.fma.f32(float %1860, float %1861, float %1862)
  store float %1863, ptr %local471, align 4
  %1864 = load float, ptr %local29, align 4
  %1865 = load float, ptr %local322, align 4
  %1866 = load float, ptr %local479, align 4
  %1867 = call float @llvm.fma.f32(float %1864, float %1865, float %1866)
  store float %1867, ptr %local479, align 4
  %1868 = load float, ptr %local210, align 4
  %1869 = load float, ptr %local3, align 4
  %1870 = load float, ptr %local424, align 4
  %1871 = call float @llvm.fma.f32(float %1868, float %1869, float %1870)
  store float %1871, ptr %local424, align 4
  %1872 = load float, ptr %local210, align 4
  %1873 = load float, ptr %local316, align 4
  %1874 = load float, ptr %local432, align 4
  %1875 = call float @llvm.fma.f32(float %1872, float %1873, float %1874)
  store float %1875, ptr %local432, align 4
  %1876 = load float, ptr %local210, align 4
  %1877 = load float, ptr %local317, align 4
  %1878 = load float, ptr %local440, align 4
  %1879 = call float @llvm.fma.f32(float %1876, float %1877, float %1878)
  store float %1879, ptr %local440, align 4
  %1880 = load float, ptr %local210, align 4
  %1881 = load float, ptr %local318, align 4
  %1882 = load float, ptr %local448, align 4
  %1883 = call float @llvm.fma.f32(float %1880, float %1881, float %1882)
  store float %1883, ptr %local448, align 4
  %1884 = load float, ptr %local210, align 4
  %1885 = load float, ptr %local319, align 4
  %1886 = load float, ptr %local456, align 4
  %1887 = call float @llvm.fma.f32(float %1884, float %1885, float %1886)
  store float %1887, ptr %local456, align 4
  %1888 = load float, ptr %local210, align 4
  %1889 = load float, ptr %local320, align 4
  %1890 = load float, ptr %local464, align 4
  %1891 = call float @llvm.fma.f32(float %1888, float %1889, float %1890)
  store float %1891, ptr %local464, align 4
  %1892 = load float, ptr %local210, align 4
  %1893 = load float, ptr %local321, align 4
  %1894 = load float, ptr %local472, align 4
  %1895 = call float @llvm.fma.f32(float %1892, float %1893, float %1894)
  store float %1895, ptr %local472, align 4
  %1896 = load float, ptr %local210, align 4
  %1897 = load float, ptr %local322, align 4
  %1898 = load float, ptr %local480, align 4
  %1899 = call float @llvm.fma.f32(float %1896, float %1897, float %1898)
  store float %1899, ptr %local480, align 4
  %1900 = load float, ptr %local211, align 4
  %1901 = load float, ptr %local3, align 4
  %1902 = load float, ptr %local425, align 4
  %1903 = call float @llvm.fma.f32(float %1900, float %1901, float %1902)
  store float %1903, ptr %local425, align 4
  %1904 = load float, ptr %local211, align 4
  %1905 = load float, ptr %local316, align 4
  %1906 = load float, ptr %local433, align 4
  %1907 = call float @llvm.fma.f32(float %1904, float %1905, float %1906)
  store float %1907, ptr %local433, align 4
  %1908 = load float, ptr %local211, align 4
  %1909 = load float, ptr %local317, align 4
  %1910 = load float, ptr %local441, align 4
  %1911 = call float @llvm.fma.f32(float %1908, float %1909, float %1910)
  store float %1911, ptr %local441, align 4
  %1912 = load float, ptr %local211, align 4
  %1913 = load float, ptr %local318, align 4
  %1914 = load float, ptr %local449, align 4
  %1915 = call float @llvm.fma.f32(float %1912, float %1913, float %1914)
  store float %1915, ptr %local449, align 4
  %1916 = load float, ptr %local211, align 4
  %1917 = load float, ptr %local319, align 4
  %1918 = load float, ptr %local457, align 4
  %1919 = call float @llvm.fma.f32(float %1916, float %1917, float %1918)
  store float %1919, ptr %local457, align 4
  %1920 = load float, ptr %local211, align 4
  %1921 = load float, ptr %local320, align 4
  %1922 = load float, ptr %local465, align 4
  %1923 = call float @llvm.fma.f32(float %1920, float %1921, float %1922)
  store float %1923, ptr %local465, align 4
  %1924 = load float, ptr %local211, align 4
  %1925 = load float, ptr %local321, align 4
  %1926 = load float, ptr %local473, align 4
  %1927 = call float @llvm.fma.f32(float %1924, float %1925, float %1926)
  store float %1927, ptr %local473, align 4
  %1928 = load float, ptr %local211, align 4
  %1929 = load float, ptr %local322, align 4
  %1930 = load float, ptr %local481, align 4
  %1931 = call float @llvm.fma.f32(float %1928, float %1929, float %1930)
  store float %1931, ptr %local481, align 4
  %1932 = load float, ptr %local212, align 4
  %1933 = load float, ptr %local3, align 4
  %1934 = load float, ptr %local426, align 4
  %1935 = call float @llvm.fma.f32(float %1932, float %1933, float %1934)
  store float %1935, ptr %local426, align 4
  %1936 = load float, ptr %local212, align 4
  %1937 = load float, ptr %local316, align 4
  %1938 = load float, ptr %local434, align 4
  %1939 = call float @llvm.fma.f32(float %1936, float %1937, float %1938)
  store float %1939, ptr %local434, align 4
  %1940 = load float, ptr %local212, align 4
  %1941 = load float, ptr %local317, align 4
  %1942 = load float, ptr %local442, align 4
  %1943 = call float @llvm.fma.f32(float %1940, float %1941, float %1942)
  store float %1943, ptr %local442, align 4
  %1944 = load float, ptr %local212, align 4
  %1945 = load float, ptr %local318, align 4
  %1946 = load float, ptr %local450, align 4
  %1947 = call float @llvm.fma.f32(float %1944, float %1945, float %1946)
  store float %1947, ptr %local450, align 4
  %1948 = load float, ptr %local212, align 4
  %1949 = load float, ptr %local319, align 4
  %1950 = load float, ptr %local458, align 4
  %1951 = call float @llvm.fma.f32(float %1948, float %1949, float %1950)
  store float %1951, ptr %local458, align 4
  %1952 = load float, ptr %local212, align 4
  %1953 = load float, ptr %local320, align 4
  %1954 = load float, ptr %local466, align 4
  %1955 = call float @llvm.fma.f32(float %1952, float %1953, float %1954)
  store float %1955, ptr %local466, align 4
  %1956 = load float, ptr %local212, align 4
  %1957 = load float, ptr %local321, align 4
  %1958 = load float, ptr %local474, align 4
  %1959 = call float @llvm.fma.f32(float %1956, float %1957, float %1958)
  store float %1959, ptr %local474, align 4
  %1960 = load float, ptr %local212, align 4
  %1961 = load float, ptr %local322, align 4
  %1962 = load float, ptr %local482, align 4
  %1963 = call float @llvm.fma.f32(float %1960, float %1961, float %1962)
  store float %1963, ptr %local482, align 4
  %1964 = load float, ptr %local213, align 4
  %1965 = load float, ptr %local3, align 4
  %1966 = load float, ptr %local427, align 4
  %1967 = call float @llvm.fma.f32(float %1964, float %1965, float %1966)
  store float %1967, ptr %local427, align 4
  %1968 = load float, ptr %local213, align 4
  %1969 = load float, ptr %local316, align 4
  %1970 = load float, ptr %local435, align 4
  %1971 = call float @llvm.fma.f32(float %1968, float %1969, float %1970)
  store float %1971, ptr %local435, align 4
  %1972 = load float, ptr %local213, align 4
  %1973 = load float, ptr %local317, align 4
  %1974 = load float, ptr %local443, align 4
  %1975 = call float @llvm.fma.f32(float %1972, float %1973, float %1974)
  store float %1975, ptr %local443, align 4
  %1976 = load float, ptr %local213, align 4
  %1977 = load float, ptr %local318, align 4
  %1978 = load float, ptr %local451, align 4
  %1979 = call float @llvm.fma.f32(float %1976, float %1977, float %1978)
  store float %1979, ptr %local451, align 4
  %1980 = load float, ptr %local213, align 4
  %1981 = load float, ptr %local319, align 4
  %1982 = load float, ptr %local459, align 4
  %1983 = call float @llvm.fma.f32(float %1980, float %1981, float %1982)
  store float %1983, ptr %local459, align 4
  %1984 = load float, ptr %local213, align 4
  %1985 = load float, ptr %local320, align 4
  %1986 = load float, ptr %local467, align 4
  %1987 = call float @llvm.fma.f32(float %1984, float %1985, float %1986)
  store float %1987, ptr %local467, align 4
  %1988 = load float, ptr %local213, align 4
  %1989 = load float, ptr %local321, align 4
  %1990 = load float, ptr %local475, align 4
  %1991 = call float @llvm.fma.f32(float %1988, float %1989, float %1990)
  store float %1991, ptr %local475, align 4
  %1992 = load float, ptr %local213, align 4
  %1993 = load float, ptr %local322, align 4
  %1994 = load float, ptr %local483, align 4
  %1995 = call float @llvm.fma.f32(float %1992, float %1993, float %1994)
  store float %1995, ptr %local483, align 4
  %1996 = load float, ptr %local214, align 4
  %1997 = load float, ptr %local3, align 4
  %1998 = load float, ptr %local428, align 4
  %1999 = call float @llvm.fma.f32(float %1996, float %1997, float %1998)
  store float %1999, ptr %local428, align 4
  %2000 = load float, ptr %local214, align 4
  %2001 = load float, ptr %local316, align 4
  %2002 = load float, ptr %local436, align 4
  %2003 = call float @llvm.fma.f32(float %2000, float %2001, float %2002)
  store float %2003, ptr %local436, align 4
  %2004 = load float, ptr %local214, align 4
  %2005 = load float, ptr %local317, align 4
  %2006 = load float, ptr %local444, align 4
  %2007 = call float @llvm.fma.f32(float %2004, float %2005, float %2006)
  store float %2007, ptr %local444, align 4
  %2008 = load float, ptr %local214, align 4
  %2009 = load float, ptr %local318, align 4
  %2010 = load float, ptr %local452, align 4
  %2011 = call float @llvm.fma.f32(float %2008, float %2009, float %2010)
  store float %2011, ptr %local452, align 4
  %2012 = load float, ptr %local214, align 4
  %2013 = load float, ptr %local319, align 4
  %2014 = load float, ptr %local460, align 4
  %2015 = call float @llvm.fma.f32(float %2012, float %2013, float %2014)
  store float %2015, ptr %local460, align 4
  %2016 = load float, ptr %local214, align 4
  %2017 = load float, ptr %local320, align 4
  %2018 = load float, ptr %local468, align 4
  %2019 = call float @llvm.fma.f32(float %2016, float %2017, float %2018)
  store float %2019, ptr %local468, align 4
  %2020 = load float, ptr %local214, align 4
  %2021 = load float, ptr %local321, align 4
  %2022 = load float, ptr %local476, align 4
  %2023 = call float @llvm.fma.f32(float %2020, float %2021, float %2022)
  store float %2023, ptr %local476, align 4
  %2024 = load float, ptr %local214, align 4
  %2025 = load float, ptr %local322, align 4
  %2026 = load float, ptr %local484, align 4
  %2027 = call float @llvm.fma.f32(float %2024, float %2025, float %2026)
  store float %2027, ptr %local484, align 4
  %2028 = load float, ptr %local215, align 4
  %2029 = load float, ptr %local3, align 4
  %2030 = load float, ptr %local429, align 4
  %2031 = call float @llvm.fma.f32(float %2028, float %2029, float %2030)
  store float %2031, ptr %local429, align 4
  %2032 = load float, ptr %local215, align 4
  %2033 = load float, ptr %local316, align 4
  %2034 = load float, ptr %local437, align 4
  %2035 = call float @llvm.fma.f32(float %2032, float %2033, float %2034)
  store float %2035, ptr %local437, align 4
  %2036 = load float, ptr %local215, align 4
  %2037 = load float, ptr %local317, align 4
  %2038 = load float, ptr %local445, align 4
  %2039 = call float @llvm.fma.f32(float %2036, float %2037, float %2038)
  store float %2039, ptr %local445, align 4
  %2040 = load float, ptr %local215, align 4
  %2041 = load float, ptr %local318, align 4
  %2042 = load float, ptr %local453, align 4
  %2043 = call float @llvm.fma.f32(float %2040, float %2041, float %2042)
  store float %2043, ptr %local453, align 4
  %2044 = load float, ptr %local215, align 4
  %2045 = load float, ptr %local319, align 4
  %2046 = load float, ptr %local461, align 4
  %2047 = call float @llvm.fma.f32(float %2044, float %2045, float %2046)
  store float %2047, ptr %local461, align 4
  %2048 = load float, ptr %local215, align 4
  %2049 = load float, ptr %local320, align 4
  %2050 = load float, ptr %local469, align 4
  %2051 = call float @llvm.fma.f32(float %2048, float %2049, float %2050)
  store float %2051, ptr %local469, align 4
  %2052 = load float, ptr %local215, align 4
  %2053 = load float, ptr %local321, align 4
  %2054 = load float, ptr %local477, align 4
  %2055 = call float @llvm.fma.f32(float %2052, float %2053, float %2054)
  store float %2055, ptr %local477, align 4
  %2056 = load float, ptr %local215, align 4
  %2057 = load float, ptr %local322, align 4
  %2058 = load float, ptr %local485, align 4
  %2059 = call float @llvm.fma.f32(float %2056, float %2057, float %2058)
  store float %2059, ptr %local485, align 4
  %2060 = mul nsw i32 %212, 2112
  %2061 = add nsw i32 264, %2060
  %2062 = mul nsw i32 %10, 4
  %2063 = add nsw i32 %2061, %2062
  %2064 = add i32 %2060, %2062
  %2065 = mul nsw i32 %2063, 4
  %2066 = mul i32 %2064, 4
  %2067 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %2066
  %2068 = getelementptr i8, ptr addrspace(3) %2067, i64 1056
  %2069 = load <4 x float>, ptr addrspace(3) %2068, align 16
  %2070 = extractelement <4 x float> %2069, i32 0
  %2071 = extractelement <4 x float> %2069, i32 1
  %2072 = extractelement <4 x float> %2069, i32 2
  %2073 = extractelement <4 x float> %2069, i32 3
  %2074 = insertelement <4 x float> undef, float %2070, i32 0
  %2075 = insertelement <4 x float> %2074, float %2071, i32 1
  %2076 = insertelement <4 x float> %2075, float %2072, i32 2
  %2077 = insertelement <4 x float> %2076, float %2073, i32 3
  store float %2070, ptr %local2, align 4
  store float %2071, ptr %local29, align 4
  store float %2072, ptr %local210, align 4
  store float %2073, ptr %local211, align 4
  %2078 = mul nsw i32 %212, 2112
  %2079 = add nsw i32 264, %2078
  %2080 = add nsw i32 16, %10
  %2081 = mul nsw i32 %2080, 4
  %2082 = mul i32 %10, 4
  %2083 = add nsw i32 %2079, %2081
  %2084 = add i32 %2078, %2082
  %2085 = mul nsw i32 %2083, 4
  %2086 = mul i32 %2084, 4
  %2087 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %2086
  %2088 = getelementptr i8, ptr addrspace(3) %2087, i64 1312
  %2089 = load <4 x float>, ptr addrspace(3) %2088, align 16
  %2090 = extractelement <4 x float> %2089, i32 0
  %2091 = extractelement <4 x float> %2089, i32 1
  %2092 = extractelement <4 x float> %2089, i32 2
  %2093 = extractelement <4 x float> %2089, i32 3
  %2094 = insertelement <4 x float> undef, float %2090, i32 0
  %2095 = insertelement <4 x float> %2094, float %2091, i32 1
  %2096 = insertelement <4 x float> %2095, float %2092, i32 2
  %2097 = insertelement <4 x float> %2096, float %2093, i32 3
  store float %2090, ptr %local212, align 4
  store float %2091, ptr %local213, align 4
  store float %2092, ptr %local214, align 4
  store float %2093, ptr %local215, align 4
  %2098 = mul nsw i32 %212, 2048
  %2099 = add nsw i32 256, %2098
  %2100 = mul nsw i32 %9, 4
  %2101 = add nsw i32 %2099, %2100
  %2102 = add i32 %2098, %2100
  %2103 = mul nsw i32 %2101, 4
  %2104 = mul i32 %2102, 4
  %2105 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %2104
  %2106 = getelementptr i8, ptr addrspace(3) %2105, i64 1024
  %2107 = load <4 x float>, ptr addrspace(3) %2106, align 16
  %2108 = extractelement <4 x float> %2107, i32 0
  %2109 = extractelement <4 x float> %2107, i32 1
  %2110 = extractelement <4 x float> %2107, i32 2
  %2111 = extractelement <4 x float> %2107, i32 3
  %2112 = insertelement <4 x float> undef, float %2108, i32 0
  %2113 = insertelement <4 x float> %2112, float %2109, i32 1
  %2114 = insertelement <4 x float> %2113, float %2110, i32 2
  %2115 = insertelement <4 x float> %2114, float %2111, i32 3
  store float %2108, ptr %local3, align 4
  store float %2109, ptr %local316, align 4
  store float %2110, ptr %local317, align 4
  store float %2111, ptr %local318, align 4
  %2116 = mul nsw i32 %212, 2048
  %2117 = add nsw i32 256, %2116
  %2118 = add nsw i32 16, %9
  %2119 = mul nsw i32 %2118, 4
  %2120 = mul i32 %9, 4
  %2121 = add nsw i32 %2117, %2119
  %2122 = add i32 %2116, %2120
  %2123 = mul nsw i32 %2121, 4
  %2124 = mul i32 %2122, 4
  %2125 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %2124
  %2126 = getelementptr i8, ptr addrspace(3) %2125, i64 1280
  %2127 = load <4 x float>, ptr addrspace(3) %2126, align 16
  %2128 = extractelement <4 x float> %2127, i32 0
  %2129 = extractelement <4 x float> %2127, i32 1
  %2130 = extractelement <4 x float> %2127, i32 2
  %2131 = extractelement <4 x float> %2127, i32 3
  %2132 = insertelement <4 x float> undef, float %2128, i32 0
  %2133 = insertelement <4 x float> %2132, float %2129, i32 1
  %2134 = insertelement <4 x float> %2133, float %2130, i32 2
  %2135 = insertelement <4 x float> %2134, float %2131, i32 3
  store float %2128, ptr %local319, align 4
  store float %2129, ptr %local320, align 4
  store float %2130, ptr %local321, align 4
  store float %2131, ptr %local322, align 4
  %2136 = load float, ptr %local2, align 4
  %2137 = load float, ptr %local3, align 4
  %2138 = load float, ptr %local4, align 4
  %2139 = call float @llvm.fma.f32(float %2136, float %2137, float %2138)
  store float %2139, ptr %local4, align 4
  %2140 = load float, ptr %local2, align 4
  %2141 = load float, ptr %local316, align 4
  %2142 = load float, ptr %local430, align 4
  %2143 = call float @llvm.fma.f32(float %2140, float %2141, float %2142)
  store float %2143, ptr %local430, align 4
  %2144 = load float, ptr %local2, align 4
  %2145 = load float, ptr %local317, align 4
  %2146 = load float, ptr %local438, align 4
  %2147 = call float @llvm.fma.f32(float %2144, float %2145, float %2146)
  store float %2147, ptr %local438, align 4
  %2148 = load float, ptr %local2, align 4
  %2149 = load float, ptr %local318, align 4
  %2150 = load float, ptr %local446, align 4
  %2151 = call float @llvm.fma.f32(float %2148, float %2149, float %2150)
  store float %2151, ptr %local446, align 4
  %2152 = load float, ptr %local2, align 4
  %2153 = load float, ptr %local319, align 4
  %2154 = load float, ptr %local454, align 4
  %2155 = call float @llvm.fma.f32(float %2152, float %2153, float %2154)
  store float %2155, ptr %local454, align 4
  %2156 = load float, ptr %local2, align 4
  %2157 = load float, ptr %local320, align 4
  %2158 = load float, ptr %local462, align 4
  %2159 = call float @llvm.fma.f32(float %2156, float %2157, float %2158)
  store float %2159, ptr %local462, align 4
  %2160 = load float, ptr %local2, align 4
  %2161 = load float, ptr %local321, align 4
  %2162 = load float, ptr %local470, align 4
  %2163 = call float @llvm.fma.f32(float %2160, float %2161, float %2162)
  store float %2163, ptr %local470, align 4
  %2164 = load float, ptr %local2, align 4
  %2165 = load float, ptr %local322, align 4
  %2166 = load float, ptr %local478, align 4
  %2167 = call float @llvm.fma.f32(float %2164, float %2165, float %2166)
  store float %2167, ptr %local478, align 4
  %2168 = load float, ptr %local29, align 4
  %2169 = load float, ptr %local3, align 4
  %2170 = load float, ptr %local423, align 4
  %2171 = call float @llvm.fma.f32(float %2168, float %2169, float %2170)
  store float %2171, ptr %local423, align 4
  %2172 = load float, ptr %local29, align 4
  %2173 = load float, ptr %local316, align 4
  %2174 = load float, ptr %local431, align 4
  %2175 = call float @llvm.fma.f32(float %2172, float %2173, float %2174)
  store float %2175, ptr %local431, align 4
  %2176 = load float, ptr %local29, align 4
  %2177 = load float, ptr %local317, align 4
  %2178 = load float, ptr %local439, align 4
  %2179 = call float @llvm.fma.f32(float %2176, float %2177, float %2178)
  store float %2179, ptr %local439, align 4
  %2180 = load float, ptr %local29, align 4
  %2181 = load float, ptr %local318, align 4
  %2182 = load float, ptr %local447, align 4
  %2183 = call float @llvm.fma.f32(float %2180, float %2181, float %2182)
  store float %2183, ptr %local447, align 4
  %2184 = load float, ptr %local29, align 4
  %2185 = load float, ptr %local319, align 4
  %2186 = load float, ptr %local455, align 4
  %2187 = call float @llvm.fma.f32(float %2184, float %2185, float %2186)
  store float %2187, ptr %local455, align 4
  %2188 = load float, ptr %local29, align 4
  %2189 = load float, ptr %local320, align 4
  %2190 = load float, ptr %local463, align 4
  %2191 = call float @llvm.fma.f32(float %2188, float %2189, float %2190)
  store float %2191, ptr %local463, align 4
  %2192 = load float, ptr %local29, align 4
  %2193 = load float, ptr %local321, align 4
  %2194 = load float, ptr %local471, align 4
  %2195 = call float @llvm.fma.f32(float %2192, float %2193, float %2194)
  store float %2195, ptr %local471, align 4
  %2196 = load float, ptr %local29, align 4
  %2197 = load float, ptr %local322, align 4
  %2198 = load float, ptr %local479, align 4
  %2199 = call float @llvm.fma.f32(float %2196, float %2197, float %2198)
  store float %2199, ptr %local479, align 4
  %2200 = load float, ptr %local210, align 4
  %2201 = load float, ptr %local3, align 4
  %2202 = load float, ptr %local424, align 4
  %2203 = call float @llvm.fma.f32(float %2200, float %2201, float %2202)
  store float %2203, ptr %local424, align 4
  %2204 = load float, ptr %local210, align 4
  %2205 = load float, ptr %local316, align 4
  %2206 = load float, ptr %local432, align 4
  %2207 = call float @llvm.fma.f32(float %2204, float %2205, float %2206)
  store float %2207, ptr %local432, align 4
  %2208 = load float, ptr %local210, align 4
  %2209 = load float, ptr %local317, align 4
  %2210 = load float, ptr %local440, align 4
  %2211 = call float @llvm.fma.f32(float %2208, float %2209, float %2210)
  store float %2211, ptr %local440, align 4
  %2212 = load float, ptr %local210, align 4
  %2213 = load float, ptr %local318, align 4
  %2214 = load float, ptr %local448, align 4
  %2215 = call float @llvm.fma.f32(float %2212, float %2213, float %2214)
  store float %2215, ptr %local448, align 4
  %2216 = load float, ptr %local210, align 4
  %2217 = load float, ptr %local319, align 4
  %2218 = load float, ptr %local456, align 4
  %2219 = call float @llvm.fma.f32(float %2216, float %2217, float %2218)
  store float %2219, ptr %local456, align 4
  %2220 = load float, ptr %local210, align 4
  %2221 = load float, ptr %local320, align 4
  %2222 = load float, ptr %local464, align 4
  %2223 = call float @llvm.fma.f32(float %2220, float %2221, float %2222)
  store float %2223, ptr %local464, align 4
  %2224 = load float, ptr %local210, align 4
  %2225 = load float, ptr %local321, align 4
  %2226 = load float, ptr %local472, align 4
  %2227 = call float @llvm.fma.f32(float %2224, float %2225, float %2226)
  store float %2227, ptr %local472, align 4
  %2228 = load float, ptr %local210, align 4
  %2229 = load float, ptr %local322, align 4
  %2230 = load float, ptr %local480, align 4
  %2231 = call float @llvm.fma.f32(float %2228, float %2229, float %2230)
  store float %2231, ptr %local480, align 4
  %2232 = load float, ptr %local211, align 4
  %2233 = load float, ptr %local3, align 4
  %2234 = load float, ptr %local425, align 4
  %2235 = call float @llvm.fma.f32(float %2232, float %2233, float %2234)
  store float %2235, ptr %local425, align 4
  %2236 = load float, ptr %local211, align 4
  %2237 = load float, ptr %local316, align 4
  %2238 = load float, ptr %local433, align 4
  %2239 = call float @llvm.fma.f32(float %2236, float %2237, float %2238)
  store float %2239, ptr %local433, align 4
  %2240 = load float, ptr %local211, align 4
  %2241 = load float, ptr %local317, align 4
  %2242 = load float, ptr %local441, align 4
  %2243 = call float @llvm.fma.f32(float %2240, float %2241, float %2242)
  store float %2243, ptr %local441, align 4
  %2244 = load float, ptr %local211, align 4
  %2245 = load float, ptr %local318, align 4
  %2246 = load float, ptr %local449, align 4
  %2247 = call float @llvm.fma.f32(float %2244, float %2245, float %2246)
  store float %2247, ptr %local449, align 4
  %2248 = load float, ptr %local211, align 4
  %2249 = load float, ptr %local319, align 4
  %2250 = load float, ptr %local457, align 4
  %2251 = call float @llvm.fma.f32(float %2248, float %2249, float %2250)
  store float %2251, ptr %local457, align 4
  %2252 = load float, ptr %local211, align 4
  %2253 = load float, ptr %local320, align 4
  %2254 = load float, ptr %local465, align 4
  %2255 = call float @llvm.fma.f32(float %2252, float %2253, float %2254)
  store float %2255, ptr %local465, align 4
  %2256 = load float, ptr %local211, align 4
  %2257 = load float, ptr %local321, align 4
  %2258 = load float, ptr %local473, align 4
  %2259 = call float @llvm.fma.f32(float %2256, float %2257, float %2258)
  store float %2259, ptr %local473, align 4
  %2260 = load float, ptr %local211, align 4
  %2261 = load float, ptr %local322, align 4
  %2262 = load float, ptr %local481, align 4
  %2263 = call float @llvm.fma.f32(float %2260, float %2261, float %2262)
  store float %2263, ptr %local481, align 4
  %2264 = load float, ptr %local212, align 4
  %2265 = load float, ptr %local3, align 4
  %2266 = load float, ptr %local426, align 4
  %2267 = call float @llvm.fma.f32(float %2264, float %2265, float %2266)
  store float %2267, ptr %local426, align 4
  %2268 = load float, ptr %local212, align 4
  %2269 = load float, ptr %local316, align 4
  %2270 = load float, ptr %local434, align 4
  %2271 = call float @llvm.fma.f32(float %2268, float %2269, float %2270)
  store float %2271, ptr %local434, align 4
  %2272 = load float, ptr %local212, align 4
  %2273 = load float, ptr %local317, align 4
  %2274 = load float, ptr %local442, align 4
  %2275 = call float @llvm.fma.f32(float %2272, float %2273, float %2274)
  store float %2275, ptr %local442, align 4
  %2276 = load float, ptr %local212, align 4
  %2277 = load float, ptr %local318, align 4
  %2278 = load float, ptr %local450, align 4
  %2279 = call float @llvm.fma.f32(float %2276, float %2277, float %2278)
  store float %2279, ptr %local450, align 4
  %2280 = load float, ptr %local212, align 4
  %2281 = load float, ptr %local319, align 4
  %2282 = load float, ptr %local458, align 4
  %2283 = call float @llvm.fma.f32(float %2280, float %2281, float %2282)
  store float %2283, ptr %local458, align 4
  %2284 = load float, ptr %local212, align 4
  %2285 = load float, ptr %local320, align 4
  %2286 = load float, ptr %local466, align 4
  %2287 = call float @llvm.fma.f32(float %2284, float %2285, float %2286)
  store float %2287, ptr %local466, align 4
  %2288 = load float, ptr %local212, align 4
  %2289 = load float, ptr %local321, align 4
  %2290 = load float, ptr %local474, align 4
  %2291 = call float @llvm.fma.f32(float %2288, float %2289, float %2290)
  store float %2291, ptr %local474, align 4
  %2292 = load float, ptr %local212, align 4
  %2293 = load float, ptr %local322, align 4
  %2294 = load float, ptr %local482, align 4
  %2295 = call float @llvm.fma.f32(float %2292, float %2293, float %2294)
  store float %2295, ptr %local482, align 4
  %2296 = load float, ptr %local213, align 4
  %2297 = load float, ptr %local3, align 4
  %2298 = load float, ptr %local427, align 4
  %2299 = call float @llvm.fma.f32(float %2296, float %2297, float %2298)
  store float %2299, ptr %local427, align 4
  %2300 = load float, ptr %local213, align 4
  %2301 = load float, ptr %local316, align 4
  %2302 = load float, ptr %local435, align 4
  %2303 = call float @llvm.fma.f32(float %2300, float %2301, float %2302)
  store float %2303, ptr %local435, align 4
  %2304 = load float, ptr %local213, align 4
  %2305 = load float, ptr %local317, align 4
  %2306 = load float, ptr %local443, align 4
  %2307 = call float @llvm.fma.f32(float %2304, float %2305, float %2306)
  store float %2307, ptr %local443, align 4
  %2308 = load float, ptr %local213, align 4
  %2309 = load float, ptr %local318, align 4
  %2310 = load float, ptr %local451, align 4
  %2311 = call float @llvm.fma.f32(float %2308, float %2309, float %2310)
  store float %2311, ptr %local451, align 4
  %2312 = load float, ptr %local213, align 4
  %2313 = load float, ptr %local319, align 4
  %2314 = load float, ptr %local459, align 4
  %2315 = call float @llvm.fma.f32(float %2312, float %2313, float %2314)
  store float %2315, ptr %local459, align 4
  %2316 = load float, ptr %local213, align 4
  %2317 = load float, ptr %local320, align 4
  %2318 = load float, ptr %local467, align 4
  %2319 = call float @llvm.fma.f32(float %2316, float %2317, float %2318)
  store float %2319, ptr %local467, align 4
  %2320 = load float, ptr %local213, align 4
  %2321 = load float, ptr %local321, align 4
  %2322 = load float, ptr %local475, align 4
  %2323 = call float @llvm.fma.f32(float %2320, float %2321, float %2322)
  store float %2323, ptr %local475, align 4
  %2324 = load float, ptr %local213, align 4
  %2325 = load float, ptr %local322, align 4
  %2326 = load float, ptr %local483, align 4
  %2327 = call float @llvm.fma.f32(float %2324, float %2325, float %2326)
  store float %2327, ptr %local483, align 4
  %2328 = load float, ptr %local214, align 4
  %2329 = load float, ptr %local3, align 4
  %2330 = load float, ptr %local428, align 4
  %2331 = call float @llvm.fma.f32(float %2328, float %2329, float %2330)
  store float %2331, ptr %local428, align 4
  %2332 = load float, ptr %local214, align 4
  %2333 = load float, ptr %local316, align 4
  %2334 = load float, ptr %local436, align 4
  %2335 = call float @llvm.fma.f32(float %2332, float %2333, float %2334)
  store float %2335, ptr %local436, align 4
  %2336 = load float, ptr %local214, align 4
  %2337 = load float, ptr %local317, align 4
  %2338 = load float, ptr %local444, align 4
  %2339 = call float @llvm.fma.f32(float %2336, float %2337, float %2338)
  store float %2339, ptr %local444, align 4
  %2340 = load float, ptr %local214, align 4
  %2341 = load float, ptr %local318, align 4
  %2342 = load float, ptr %local452, align 4
  %2343 = call float @llvm.fma.f32(float %2340, float %2341, float %2342)
  store float %2343, ptr %local452, align 4
  %2344 = load float, ptr %local214, align 4
  %2345 = load float, ptr %local319, align 4
  %2346 = load float, ptr %local460, align 4
  %2347 = call float @llvm.fma.f32(float %2344, float %2345, float %2346)
  store float %2347, ptr %local460, align 4
  %2348 = load float, ptr %local214, align 4
  %2349 = load float, ptr %local320, align 4
  %2350 = load float, ptr %local468, align 4
  %2351 = call float @llvm.fma.f32(float %2348, float %2349, float %2350)
  store float %2351, ptr %local468, align 4
  %2352 = load float, ptr %local214, align 4
  %2353 = load float, ptr %local321, align 4
  %2354 = load float, ptr %local476, align 4
  %2355 = call float @llvm.fma.f32(float %2352, float %2353, float %2354)
  store float %2355, ptr %local476, align 4
  %2356 = load float, ptr %local214, align 4
  %2357 = load float, ptr %local322, align 4
  %2358 = load float, ptr %local484, align 4
  %2359 = call float @llvm.fma.f32(float %2356, float %2357, float %2358)
  store float %2359, ptr %local484, align 4
  %2360 = load float, ptr %local215, align 4
  %2361 = load float, ptr %local3, align 4
  %2362 = load float, ptr %local429, align 4
  %2363 = call float @llvm.fma.f32(float %2360, float %2361, float %2362)
  store float %2363, ptr %local429, align 4
  %2364 = load float, ptr %local215, align 4
  %2365 = load float, ptr %local316, align 4
  %2366 = load float, ptr %local437, align 4
  %2367 = call float @llvm.fma.f32(float %2364, float %2365, float %2366)
  store float %2367, ptr %local437, align 4
  %2368 = load float, ptr %local215, align 4
  %2369 = load float, ptr %local317, align 4
  %2370 = load float, ptr %local445, align 4
  %2371 = call float @llvm.fma.f32(float %2368, float %2369, float %2370)
  store float %2371, ptr %local445, align 4
  %2372 = load float, ptr %local215, align 4
  %2373 = load float, ptr %local318, align 4
  %2374 = load float, ptr %local453, align 4
  %2375 = call float @llvm.fma.f32(float %2372, float %2373, float %2374)
  store float %2375, ptr %local453, align 4
  %2376 = load float, ptr %local215, align 4
  %2377 = load float, ptr %local319, align 4
  %2378 = load float, ptr %local461, align 4
  %2379 = call float @llvm.fma.f32(float %2376, float %2377, float %2378)
  store float %2379, ptr %local461, align 4
  %2380 = load float, ptr %local215, align 4
  %2381 = load float, ptr %local320, align 4
  %2382 = load float, ptr %local469, align 4
  %2383 = call float @llvm.fma.f32(float %2380, float %2381, float %2382)
  store float %2383, ptr %local469, align 4
  %2384 = load float, ptr %local215, align 4
  %2385 = load float, ptr %local321, align 4
  %2386 = load float, ptr %local477, align 4
  %2387 = call float @llvm.fma.f32(float %2384, float %2385, float %2386)
  store float %2387, ptr %local477, align 4
  %2388 = load float, ptr %local215, align 4
  %2389 = load float, ptr %local322, align 4
  %2390 = load float, ptr %local485, align 4
  %2391 = call float @llvm.fma.f32(float %2388, float %2389, float %2390)
  store float %2391, ptr %local485, align 4
  %2392 = mul nsw i32 %212, 2112
  %2393 = add nsw i32 396, %2392
  %2394 = mul nsw i32 %10, 4
  %2395 = add nsw i32 %2393, %2394
  %2396 = add i32 %2392, %2394
  %2397 = mul nsw i32 %2395, 4
  %2398 = mul i32 %2396, 4
  %2399 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %2398
  %2400 = getelementptr i8, ptr addrspace(3) %2399, i64 1584
  %2401 = load <4 x float>, ptr addrspace(3) %2400, align 16
  %2402 = extractelement <4 x float> %2401, i32 0
  %2403 = extractelement <4 x float> %2401, i32 1
  %2404 = extractelement <4 x float> %2401, i32 2
  %2405 = extractelement <4 x float> %2401, i32 3
  %2406 = insertelement <4 x float> undef, float %2402, i32 0
  %2407 = insertelement <4 x float> %2406, float %2403, i32 1
  %2408 = insertelement <4 x float> %2407, float %2404, i32 2
  %2409 = insertelement <4 x float> %2408, float %2405, i32 3
  store float %2402, ptr %local2, align 4
  store float %2403, ptr %local29, align 4
  store float %2404, ptr %local210, align 4
  store float %2405, ptr %local211, align 4
  %2410 = mul nsw i32 %212, 2112
  %2411 = add nsw i32 396, %2410
  %2412 = add nsw i32 16, %10
  %2413 = mul nsw i32 %2412, 4
  %2414 = mul i32 %10, 4
  %2415 = add nsw i32 %2411, %2413
  %2416 = add i32 %2410, %2414
  %2417 = mul nsw i32 %2415, 4
  %2418 = mul i32 %2416, 4
  %2419 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %2418
  %2420 = getelementptr i8, ptr addrspace(3) %2419, i64 1840
  %2421 = load <4 x float>, ptr addrspace(3) %2420, align 16
  %2422 = extractelement <4 x float> %2421, i32 0
  %2423 = extractelement <4 x float> %2421, i32 1
  %2424 = extractelement <4 x float> %2421, i32 2
  %2425 = extractelement <4 x float> %2421, i32 3
  %2426 = insertelement <4 x float> undef, float %2422, i32 0
  %2427 = insertelement <4 x float> %2426, float %2423, i32 1
  %2428 = insertelement <4 x float> %2427, float %2424, i32 2
  %2429 = insertelement <4 x float> %2428, float %2425, i32 3
  store float %2422, ptr %local212, align 4
  store float %2423, ptr %local213, align 4
  store float %2424, ptr %local214, align 4
  store float %2425, ptr %local215, align 4
  %2430 = mul nsw i32 %212, 2048
  %2431 = add nsw i32 384, %2430
  %2432 = mul nsw i32 %9, 4
  %2433 = add nsw i32 %2431, %2432
  %2434 = add i32 %2430, %2432
  %2435 = mul nsw i32 %2433, 4
  %2436 = mul i32 %2434, 4
  %2437 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %2436
  %2438 = getelementptr i8, ptr addrspace(3) %2437, i64 1536
  %2439 = load <4 x float>, ptr addrspace(3) %2438, align 16
  %2440 = extractelement <4 x float> %2439, i32 0
  %2441 = extractelement <4 x float> %2439, i32 1
  %2442 = extractelement <4 x float> %2439, i32 2
  %2443 = extractelement <4 x float> %2439, i32 3
  %2444 = insertelement <4 x float> undef, float %2440, i32 0
  %2445 = insertelement <4 x float> %2444, float %2441, i32 1
  %2446 = insertelement <4 x float> %2445, float %2442, i32 2
  %2447 = insertelement <4 x float> %2446, float %2443, i32 3
  store float %2440, ptr %local3, align 4
  store float %2441, ptr %local316, align 4
  store float %2442, ptr %local317, align 4
  store float %2443, ptr %local318, align 4
  %2448 = mul nsw i32 %212, 2048
  %2449 = add nsw i32 384, %2448
  %2450 = add nsw i32 16, %9
  %2451 = mul nsw i32 %2450, 4
  %2452 = mul i32 %9, 4
  %2453 = add nsw i32 %2449, %2451
  %2454 = add i32 %2448, %2452
  %2455 = mul nsw i32 %2453, 4
  %2456 = mul i32 %2454, 4
  %2457 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %2456
  %2458 = getelementptr i8, ptr addrspace(3) %2457, i64 1792
  %2459 = load <4 x float>, ptr addrspace(3) %2458, align 16
  %2460 = extractelement <4 x float> %2459, i32 0
  %2461 = extractelement <4 x float> %2459, i32 1
  %2462 = extractelement <4 x float> %2459, i32 2
  %2463 = extractelement <4 x float> %2459, i32 3
  %2464 = insertelement <4 x float> undef, float %2460, i32 0
  %2465 = insertelement <4 x float> %2464, float %2461, i32 1
  %2466 = insertelement <4 x float> %2465, float %2462, i32 2
  %2467 = insertelement <4 x float> %2466, float %2463, i32 3
  store float %2460, ptr %local319, align 4
  store float %2461, ptr %local320, align 4
  store float %2462, ptr %local321, align 4
  store float %2463, ptr %local322, align 4
  %2468 = load float, ptr %local2, align 4
  %2469 = load float, ptr %local3, align 4
  %2470 = load float, ptr %local4, align 4
  %2471 = call float @llvm.fma.f32(float %2468, float %2469, float %2470)
  store float %2471, ptr %local4, align 4
  %2472 = load float, ptr %local2, align 4
  %2473 = load float, ptr %local316, align 4
  %2474 = load float, ptr %local430, align 4
  %2475 = call float @llvm.fma.f32(float %2472, float %2473, float %2474)
  store float %2475, ptr %local430, align 4
  %2476 = load float, ptr %local2, align 4
  %2477 = load float, ptr %local317, align 4
  %2478 = load float, ptr %local438, align 4
  %2479 = call float @llvm.fma.f32(float %2476, float %2477, float %2478)
  store float %2479, ptr %local438, align 4
  %2480 = load float, ptr %local2, align 4
  %2481 = load float, ptr %local318, align 4
  %2482 = load float, ptr %local446, align 4
  %2483 = call float @llvm.fma.f32(float %2480, float %2481, float %2482)
  store float %2483, ptr %local446, align 4
  %2484 = load float, ptr %local2, align 4
  %2485 = load float, ptr %local319, align 4
  %2486 = load float, ptr %local454, align 4
  %2487 = call float @llvm.fma.f32(float %2484, float %2485, float %2486)
  store float %2487, ptr %local454, align 4
  %2488 = load float, ptr %local2, align 4
  %2489 = load float, ptr %local320, align 4
  %2490 = load float, ptr %local462, align 4
  %2491 = call float @llvm.fma.f32(float %2488, float %2489, float %2490)
  store float %2491, ptr %local462, align 4
  %2492 = load float, ptr %local2, align 4
  %2493 = load float, ptr %local321, align 4
  %2494 = load float, ptr %local470, align 4
  %2495 = call float @llvm.fma.f32(float %2492, float %2493, float %2494)
  store float %2495, ptr %local470, align 4
  %2496 = load float, ptr %local2, align 4
  %2497 = load float, ptr %local322, align 4
  %2498 = load float, ptr %local478, align 4
  %2499 = call float @llvm.fma.f32(float %2496, float %2497, float %2498)
  store float %2499, ptr %local478, align 4
  %2500 = load float, ptr %local29, align 4
  %2501 = load float, ptr %local3, align 4
  %2502 = load float, ptr %local423, align 4
  %2503 = call float @llvm.fma.f32(float %2500, float %2501, float %2502)
  store float %2503, ptr %local423, align 4
  %2504 = load float, ptr %local29, align 4
  %2505 = load float, ptr %local316, align 4
  %2506 = load float, ptr %local431, align 4
  %2507 = call float @llvm.fma.f32(float %2504, float %2505, float %2506)
  store float %2507, ptr %local431, align 4
  %2508 = load float, ptr %local29, align 4
  %2509 = load float, ptr %local317, align 4
  %2510 = load float, ptr %local439, align 4
  %2511 = call float @llvm.fma.f32(float %2508, float %2509, float %2510)
  store float %2511, ptr %local439, align 4
  %2512 = load float, ptr %local29, align 4
  %2513 = load float, ptr %local318, align 4
  %2514 = load float, ptr %local447, align 4
  %2515 = call float @llvm.fma.f32(float %2512, float %2513, float %2514)
  store float %2515, ptr %local447, align 4
  %2516 = load float, ptr %local29, align 4
  %2517 = load float, ptr %local319, align 4
  %2518 = load float, ptr %local455, align 4
  %2519 = call float @llvm.fma.f32(float %2516, float %2517, float %2518)
  store float %2519, ptr %local455, align 4
  %2520 = load float, ptr %local29, align 4
  %2521 = load float, ptr %local320, align 4
  %2522 = load float, ptr %local463, align 4
  %2523 = call float @llvm.fma.f32(float %2520, float %2521, float %2522)
  store float %2523, ptr %local463, align 4
  %2524 = load float, ptr %local29, align 4
  %2525 = load float, ptr %local321, align 4
  %2526 = load float, ptr %local471, align 4
  %2527 = call float @llvm.fma.f32(float %2524, float %2525, float %2526)
  store float %2527, ptr %local471, align 4
  %2528 = load float, ptr %local29, align 4
  %2529 = load float, ptr %local322, align 4
  %2530 = load float, ptr %local479, align 4
  %2531 = call float @llvm.fma.f32(float %2528, float %2529, float %2530)
  store float %2531, ptr %local479, align 4
  %2532 = load float, ptr %local210, align 4
  %2533 = load float, ptr %local3, align 4
  %2534 = load float, ptr %local424, align 4
  %2535 = call float @llvm.fma.f32(float %2532, float %2533, float %2534)
  store float %2535, ptr %local424, align 4
  %2536 = load float, ptr %local210, align 4
  %2537 = load float, ptr %local316, align 4
  %2538 = load float, ptr %local432, align 4
  %2539 = call float @llvm.fma.f32(float %2536, float %2537, float %2538)
  store float %2539, ptr %local432, align 4
  %2540 = load float, ptr %local210, align 4
  %2541 = load float, ptr %local317, align 4
  %2542 = load float, ptr %local440, align 4
  %2543 = call float @llvm.fma.f32(float %2540, float %2541, float %2542)
  store float %2543, ptr %local440, align 4
  %2544 = load float, ptr %local210, align 4
  %2545 = load float, ptr %local318, align 4
  %2546 = load float, ptr %local448, align 4
  %2547 = call float @llvm.fma.f32(float %2544, float %2545, float %2546)
  store float %2547, ptr %local448, align 4
  %2548 = load float, ptr %local210, align 4
  %2549 = load float, ptr %local319, align 4
  %2550 = load float, ptr %local456, align 4
  %2551 = call float @llvm.fma.f32(float %2548, float %2549, float %2550)
  store float %2551, ptr %local456, align 4
  %2552 = load float, ptr %local210, align 4
  %2553 = load float, ptr %local320, align 4
  %2554 = load float, ptr %local464, align 4
  %2555 = call float @llvm.fma.f32(float %2552, float %2553, float %2554)
  store float %2555, ptr %local464, align 4
  %2556 = load float, ptr %local210, align 4
  %2557 = load float, ptr %local321, align 4
  %2558 = load float, ptr %local472, align 4
  %2559 = call float @llvm.fma.f32(float %2556, float %2557, float %2558)
  store float %2559, ptr %local472, align 4
  %2560 = load float, ptr %local210, align 4
  %2561 = load float, ptr %local322, align 4
  %2562 = load float, ptr %local480, align 4
  %2563 = call float @llvm.fma.f32(float %2560, float %2561, float %2562)
  store float %2563, ptr %local480, align 4
  %2564 = load float, ptr %local211, align 4
  %2565 = load float, ptr %local3, align 4
  %2566 = load float, ptr %local425, align 4
  %2567 = call float @llvm.fma.f32(float %2564, float %2565, float %2566)
  store float %2567, ptr %local425, align 4
  %2568 = load float, ptr %local211, align 4
  %2569 = load float, ptr %local316, align 4
  %2570 = load float, ptr %local433, align 4
  %2571 = call float @llvm.fma.f32(float %2568, float %2569, float %2570)
  store float %2571, ptr %local433, align 4
  %2572 = load float, ptr %local211, align 4
  %2573 = load float, ptr %local317, align 4
  %2574 = load float, ptr %local441, align 4
  %2575 = call float @llvm.fma.f32(float %2572, float %2573, float %2574)
  store float %2575, ptr %local441, align 4
  %2576 = load float, ptr %local211, align 4
  %2577 = load float, ptr %local318, align 4
  %2578 = load float, ptr %local449, align 4
  %2579 = call float @llvm.fma.f32(float %2576, float %2577, float %2578)
  store float %2579, ptr %local449, align 4
  %2580 = load float, ptr %local211, align 4
  %2581 = load float, ptr %local319, align 4
  %2582 = load float, ptr %local457, align 4
  %2583 = call float @llvm.fma.f32(float %2580, float %2581, float %2582)
  store float %2583, ptr %local457, align 4
  %2584 = load float, ptr %local211, align 4
  %2585 = load float, ptr %local320, align 4
  %2586 = load float, ptr %local465, align 4
  %2587 = call float @llvm.fma.f32(float %2584, float %2585, float %2586)
  store float %2587, ptr %local465, align 4
  %2588 = load float, ptr %local211, align 4
  %2589 = load float, ptr %local321, align 4
  %2590 = load float, ptr %local473, align 4
  %2591 = call float @llvm.fma.f32(float %2588, float %2589, float %2590)
  store float %2591, ptr %local473, align 4
  %2592 = load float, ptr %local211, align 4
  %2593 = load float, ptr %local322, align 4
  %2594 = load float, ptr %local481, align 4
  %2595 = call float @llvm.fma.f32(float %2592, float %2593, float %2594)
  store float %2595, ptr %local481, align 4
  %2596 = load float, ptr %local212, align 4
  %2597 = load float, ptr %local3, align 4
  %2598 = load float, ptr %local426, align 4
  %2599 = call float @llvm.fma.f32(float %2596, float %2597, float %2598)
  store float %2599, ptr %local426, align 4
  %2600 = load float, ptr %local212, align 4
  %2601 = load float, ptr %local316, align 4
  %2602 = load float, ptr %local434, align 4
  %2603 = call float @llvm.fma.f32(float %2600, float %2601, float %2602)
  store float %2603, ptr %local434, align 4
  %2604 = load float, ptr %local212, align 4
  %2605 = load float, ptr %local317, align 4
  %2606 = load float, ptr %local442, align 4
  %2607 = call float @llvm.fma.f32(float %2604, float %2605, float %2606)
  store float %2607, ptr %local442, align 4
  %2608 = load float, ptr %local212, align 4
  %2609 = load float, ptr %local318, align 4
  %2610 = load float, ptr %local450, align 4
  %2611 = call float @llvm.fma.f32(float %2608, float %2609, float %2610)
  store float %2611, ptr %local450, align 4
  %2612 = load float, ptr %local212, align 4
  %2613 = load float, ptr %local319, align 4
  %2614 = load float, ptr %local458, align 4
  %2615 = call float @llvm.fma.f32(float %2612, float %2613, float %2614)
  store float %2615, ptr %local458, align 4
  %2616 = load float, ptr %local212, align 4
  %2617 = load float, ptr %local320, align 4
  %2618 = load float, ptr %local466, align 4
  %2619 = call float @llvm.fma.f32(float %2616, float %2617, float %2618)
  store float %2619, ptr %local466, align 4
  %2620 = load float, ptr %local212, align 4
  %2621 = load float, ptr %local321, align 4
  %2622 = load float, ptr %local474, align 4
  %2623 = call float @llvm.fma.f32(float %2620, float %2621, float %2622)
  store float %2623, ptr %local474, align 4
  %2624 = load float, ptr %local212, align 4
  %2625 = load float, ptr %local322, align 4
  %2626 = load float, ptr %local482, align 4
  %2627 = call float @llvm.fma.f32(float %2624, float %2625, float %2626)
  store float %2627, ptr %local482, align 4
  %2628 = load float, ptr %local213, align 4
  %2629 = load float, ptr %local3, align 4
  %2630 = load float, ptr %local427, align 4
  %2631 = call float @llvm.fma.f32(float %2628, float %2629, float %2630)
  store float %2631, ptr %local427, align 4
  %2632 = load float, ptr %local213, align 4
  %2633 = load float, ptr %local316, align 4
  %2634 = load float, ptr %local435, align 4
  %2635 = call float @llvm.fma.f32(float %2632, float %2633, float %2634)
  store float %2635, ptr %local435, align 4
  %2636 = load float, ptr %local213, align 4
  %2637 = load float, ptr %local317, align 4
  %2638 = load float, ptr %local443, align 4
  %2639 = call float @llvm.fma.f32(float %2636, float %2637, float %2638)
  store float %2639, ptr %local443, align 4
  %2640 = load float, ptr %local213, align 4
  %2641 = load float, ptr %local318, align 4
  %2642 = load float, ptr %local451, align 4
  %2643 = call float @llvm.fma.f32(float %2640, float %2641, float %2642)
  store float %2643, ptr %local451, align 4
  %2644 = load float, ptr %local213, align 4
  %2645 = load float, ptr %local319, align 4
  %2646 = load float, ptr %local459, align 4
  %2647 = call float @llvm.fma.f32(float %2644, float %2645, float %2646)
  store float %2647, ptr %local459, align 4
  %2648 = load float, ptr %local213, align 4
  %2649 = load float, ptr %local320, align 4
  %2650 = load float, ptr %local467, align 4
  %2651 = call float @llvm.fma.f32(float %2648, float %2649, float %2650)
  store float %2651, ptr %local467, align 4
  %2652 = load float, ptr %local213, align 4
  %2653 = load float, ptr %local321, align 4
  %2654 = load float, ptr %local475, align 4
  %2655 = call float @llvm.fma.f32(float %2652, float %2653, float %2654)
  store float %2655, ptr %local475, align 4
  %2656 = load float, ptr %local213, align 4
  %2657 = load float, ptr %local322, align 4
  %2658 = load float, ptr %local483, align 4
  %2659 = call float @llvm.fma.f32(float %2656, float %2657, float %2658)
  store float %2659, ptr %local483, align 4
  %2660 = load float, ptr %local214, align 4
  %2661 = load float, ptr %local3, align 4
  %2662 = load float, ptr %local428, align 4
  %2663 = call float @llvm.fma.f32(float %2660, float %2661, float %2662)
  store float %2663, ptr %local428, align 4
  %2664 = load float, ptr %local214, align 4
  %2665 = load float, ptr %local316, align 4
  %2666 = load float, ptr %local436, align 4
  %2667 = call float @llvm.fma.f32(float %2664, float %2665, float %2666)
  store float %2667, ptr %local436, align 4
  %2668 = load float, ptr %local214, align 4
  %2669 = load float, ptr %local317, align 4
  %2670 = load float, ptr %local444, align 4
  %2671 = call float @llvm.fma.f32(float %2668, float %2669, float %2670)
  store float %2671, ptr %local444, align 4
  %2672 = load float, ptr %local214, align 4
  %2673 = load float, ptr %local318, align 4
  %2674 = load float, ptr %local452, align 4
  %2675 = call float @llvm.fma.f32(float %2672, float %2673, float %2674)
  store float %2675, ptr %local452, align 4
  %2676 = load float, ptr %local214, align 4
  %2677 = load float, ptr %local319, align 4
  %2678 = load float, ptr %local460, align 4
  %2679 = call float @llvm.fma.f32(float %2676, float %2677, float %2678)
  store float %2679, ptr %local460, align 4
  %2680 = load float, ptr %local214, align 4
  %2681 = load float, ptr %local320, align 4
  %2682 = load float, ptr %local468, align 4
  %2683 = call float @llvm.fma.f32(float %2680, float %2681, float %2682)
  store float %2683, ptr %local468, align 4
  %2684 = load float, ptr %local214, align 4
  %2685 = load float, ptr %local321, align 4
  %2686 = load float, ptr %local476, align 4
  %2687 = call float @llvm.fma.f32(float %2684, float %2685, float %2686)
  store float %2687, ptr %local476, align 4
  %2688 = load float, ptr %local214, align 4
  %2689 = load float, ptr %local322, align 4
  %2690 = load float, ptr %local484, align 4
  %2691 = call float @llvm.fma.f32(float %2688, float %2689, float %2690)
  store float %2691, ptr %local484, align 4
  %2692 = load float, ptr %local215, align 4
  %2693 = load float, ptr %local3, align 4
  %2694 = load float, ptr %local429, align 4
  %2695 = call float @llvm.fma.f32(float %2692, float %2693, float %2694)
  store float %2695, ptr %local429, align 4
  %2696 = load float, ptr %local215, align 4
  %2697 = load float, ptr %local316, align 4
  %2698 = load float, ptr %local437, align 4
  %2699 = call float @llvm.fma.f32(float %2696, float %2697, float %2698)
  store float %2699, ptr %local437, align 4
  %2700 = load float, ptr %local215, align 4
  %2701 = load float, ptr %local317, align 4
  %2702 = load float, ptr %local445, align 4
  %2703 = call float @llvm.fma.f32(float %2700, float %2701, float %2702)
  store float %2703, ptr %local445, align 4
  %2704 = load float, ptr %local215, align 4
  %2705 = load float, ptr %local318, align 4
  %2706 = load float, ptr %local453, align 4
  %2707 = call float @llvm.fma.f32(float %2704, float %2705, float %2706)
  store float %2707, ptr %local453, align 4
  %2708 = load float, ptr %local215, align 4
  %2709 = load float, ptr %local319, align 4
  %2710 = load float, ptr %local461, align 4
  %2711 = call float @llvm.fma.f32(float %2708, float %2709, float %2710)
  store float %2711, ptr %local461, align 4
  %2712 = load float, ptr %local215, align 4
  %2713 = load float, ptr %local320, align 4
  %2714 = load float, ptr %local469, align 4
  %2715 = call float @llvm.fma.f32(float %2712, float %2713, float %2714)
  store float %2715, ptr %local469, align 4
  %2716 = load float, ptr %local215, align 4
  %2717 = load float, ptr %local321, align 4
  %2718 = load float, ptr %local477, align 4
  %2719 = call float @llvm.fma.f32(float %2716, float %2717, float %2718)
  store float %2719, ptr %local477, align 4
  %2720 = load float, ptr %local215, align 4
  %2721 = load float, ptr %local322, align 4
  %2722 = load float, ptr %local485, align 4
  %2723 = call float @llvm.fma.f32(float %2720, float %2721, float %2722)
  store float %2723, ptr %local485, align 4
  %2724 = mul nsw i32 %212, 2112
  %2725 = add nsw i32 528, %2724
  %2726 = mul nsw i32 %10, 4
  %2727 = add nsw i32 %2725, %2726
  %2728 = add i32 %2724, %2726
  %2729 = mul nsw i32 %2727, 4
  %2730 = mul i32 %2728, 4
  %2731 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %2730
  %2732 = getelementptr i8, ptr addrspace(3) %2731, i64 2112
  %2733 = load <4 x float>, ptr addrspace(3) %2732, align 16
  %2734 = extractelement <4 x float> %2733, i32 0
  %2735 = extractelement <4 x float> %2733, i32 1
  %2736 = extractelement <4 x float> %2733, i32 2
  %2737 = extractelement <4 x float> %2733, i32 3
  %2738 = insertelement <4 x float> undef, float %2734, i32 0
  %2739 = insertelement <4 x float> %2738, float %2735, i32 1
  %2740 = insertelement <4 x float> %2739, float %2736, i32 2
  %2741 = insertelement <4 x float> %2740, float %2737, i32 3
  store float %2734, ptr %local2, align 4
  store float %2735, ptr %local29, align 4
  store float %2736, ptr %local210, align 4
  store float %2737, ptr %local211, align 4
  %2742 = mul nsw i32 %212, 2112
  %2743 = add nsw i32 528, %2742
  %2744 = add nsw i32 16, %10
  %2745 = mul nsw i32 %2744, 4
  %2746 = mul i32 %10, 4
  %2747 = add nsw i32 %2743, %2745
  %2748 = add i32 %2742, %2746
  %2749 = mul nsw i32 %2747, 4
  %2750 = mul i32 %2748, 4
  %2751 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %2750
  %2752 = getelementptr i8, ptr addrspace(3) %2751, i64 2368
  %2753 = load <4 x float>, ptr addrspace(3) %2752, align 16
  %2754 = extractelement <4 x float> %2753, i32 0
  %2755 = extractelement <4 x float> %2753, i32 1
  %2756 = extractelement <4 x float> %2753, i32 2
  %2757 = extractelement <4 x float> %2753, i32 3
  %2758 = insertelement <4 x float> undef, float %2754, i32 0
  %2759 = insertelement <4 x float> %2758, float %2755, i32 1
  %2760 = insertelement <4 x float> %2759, float %2756, i32 2
  %2761 = insertelement <4 x float> %2760, float %2757, i32 3
  store float %2754, ptr %local212, align 4
  store float %2755, ptr %local213, align 4
  store float %2756, ptr %local214, align 4
  store float %2757, ptr %local215, align 4
  %2762 = mul nsw i32 %212, 2048
  %2763 = add nsw i32 512, %2762
  %2764 = mul nsw i32 %9, 4
  %2765 = add nsw i32 %2763, %2764
  %2766 = add i32 %2762, %2764
  %2767 = mul nsw i32 %2765, 4
  %2768 = mul i32 %2766, 4
  %2769 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %2768
  %2770 = getelementptr i8, ptr addrspace(3) %2769, i64 2048
  %2771 = load <4 x float>, ptr addrspace(3) %2770, align 16
  %2772 = extractelement <4 x float> %2771, i32 0
  %2773 = extractelement <4 x float> %2771, i32 1
  %2774 = extractelement <4 x float> %2771, i32 2
  %2775 = extractelement <4 x float> %2771, i32 3
  %2776 = insertelement <4 x float> undef, float %2772, i32 0
  %2777 = insertelement <4 x float> %2776, float %2773, i32 1
  %2778 = insertelement <4 x float> %2777, float %2774, i32 2
  %2779 = insertelement <4 x float> %2778, float %2775, i32 3
  store float %2772, ptr %local3, align 4
  store float %2773, ptr %local316, align 4
  store float %2774, ptr %local317, align 4
  store float %2775, ptr %local318, align 4
  %2780 = mul nsw i32 %212, 2048
  %2781 = add nsw i32 512, %2780
  %2782 = add nsw i32 16, %9
  %2783 = mul nsw i32 %2782, 4
  %2784 = mul i32 %9, 4
  %2785 = add nsw i32 %2781, %2783
  %2786 = add i32 %2780, %2784
  %2787 = mul nsw i32 %2785, 4
  %2788 = mul i32 %2786, 4
  %2789 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %2788
  %2790 = getelementptr i8, ptr addrspace(3) %2789, i64 2304
  %2791 = load <4 x float>, ptr addrspace(3) %2790, align 16
  %2792 = extractelement <4 x float> %2791, i32 0
  %2793 = extractelement <4 x float> %2791, i32 1
  %2794 = extractelement <4 x float> %2791, i32 2
  %2795 = extractelement <4 x float> %2791, i32 3
  %2796 = insertelement <4 x float> undef, float %2792, i32 0
  %2797 = insertelement <4 x float> %2796, float %2793, i32 1
  %2798 = insertelement <4 x float> %2797, float %2794, i32 2
  %2799 = insertelement <4 x float> %2798, float %2795, i32 3
  store float %2792, ptr %local319, align 4
  store float %2793, ptr %local320, align 4
  store float %2794, ptr %local321, align 4
  store float %2795, ptr %local322, align 4
  %2800 = load float, ptr %local2, align 4
  %2801 = load float, ptr %local3, align 4
  %2802 = load float, ptr %local4, align 4
  %2803 = call float @llvm.fma.f32(float %2800, float %2801, float %2802)
  store float %2803, ptr %local4, align 4
  %2804 = load float, ptr %local2, align 4
  %2805 = load float, ptr %local316, align 4
  %2806 = load float, ptr %local430, align 4
  %2807 = call float @llvm.fma.f32(float %2804, float %2805, float %2806)
  store float %2807, ptr %local430, align 4
  %2808 = load float, ptr %local2, align 4
  %2809 = load float, ptr %local317, align 4
  %2810 = load float, ptr %local438, align 4
  %2811 = call float @llvm.fma.f32(float %2808, float %2809, float %2810)
  store float %2811, ptr %local438, align 4
  %2812 = load float, ptr %local2, align 4
  %2813 = load float, ptr %local318, align 4
  %2814 = load float, ptr %local446, align 4
  %2815 = call float @llvm.fma.f32(float %2812, float %2813, float %2814)
  store float %2815, ptr %local446, align 4
  %2816 = load float, ptr %local2, align 4
  %2817 = load float, ptr %local319, align 4
  %2818 = load float, ptr %local454, align 4
  %2819 = call float @llvm.fma.f32(float %2816, float %2817, float %2818)
  store float %2819, ptr %local454, align 4
  %2820 = load float, ptr %local2, align 4
  %2821 = load float, ptr %local320, align 4
  %2822 = load float, ptr %local462, align 4
  %2823 = call float @llvm.fma.f32(float %2820, float %2821, float %2822)
  store float %2823, ptr %local462, align 4
  %2824 = load float, ptr %local2, align 4
  %2825 = load float, ptr %local321, align 4
  %2826 = load float, ptr %local470, align 4
  %2827 = call float @llvm.fma.f32(float %2824, float %2825, float %2826)
  store float %2827, ptr %local470, align 4
  %2828 = load float, ptr %local2, align 4
  %2829 = load float, ptr %local322, align 4
  %2830 = load float, ptr %local478, align 4
  %2831 = call float @llvm.fma.f32(float %2828, float %2829, float %2830)
  store float %2831, ptr %local478, align 4
  %2832 = load float, ptr %local29, align 4
  %2833 = load float, ptr %local3, align 4
  %2834 = load float, ptr %local423, align 4
  %2835 = call float @llvm.fma.f32(float %2832, float %2833, float %2834)
  store float %2835, ptr %local423, align 4
  %2836 = load float, ptr %local29, align 4
  %2837 = load float, ptr %local316, align 4
  %2838 = load float, ptr %local431, align 4
  %2839 = call float @llvm.fma.f32(float %2836, float %2837, float %2838)
  store float %2839, ptr %local431, align 4
  %2840 = load float, ptr %local29, align 4
  %2841 = load float, ptr %local317, align 4
  %2842 = load float, ptr %local439, align 4
  %2843 = call float @llvm.fma.f32(float %2840, float %2841, float %2842)
  store float %2843, ptr %local439, align 4
  %2844 = load float, ptr %local29, align 4
  %2845 = load float, ptr %local318, align 4
  %2846 = load float, ptr %local447, align 4
  %2847 = call float @llvm.fma.f32(float %2844, float %2845, float %2846)
  store float %2847, ptr %local447, align 4
  %2848 = load float, ptr %local29, align 4
  %2849 = load float, ptr %local319, align 4
  %2850 = load float, ptr %local455, align 4
  %2851 = call float @llvm.fma.f32(float %2848, float %2849, float %2850)
  store float %2851, ptr %local455, align 4
  %2852 = load float, ptr %local29, align 4
  %2853 = load float, ptr %local320, align 4
  %2854 = load float, ptr %local463, align 4
  %2855 = call float @llvm.fma.f32(float %2852, float %2853, float %2854)
  store float %2855, ptr %local463, align 4
  %2856 = load float, ptr %local29, align 4
  %2857 = load float, ptr %local321, align 4
  %2858 = load float, ptr %local471, align 4
  %2859 = call float @llvm.fma.f32(float %2856, float %2857, float %2858)
  store float %2859, ptr %local471, align 4
  %2860 = load float, ptr %local29, align 4
  %2861 = load float, ptr %local322, align 4
  %2862 = load float, ptr %local479, align 4
  %2863 = call float @llvm.fma.f32(float %2860, float %2861, float %2862)
  store float %2863, ptr %local479, align 4
  %2864 = load float, ptr %local210, align 4
  %2865 = load float, ptr %local3, align 4
  %2866 = load float, ptr %local424, align 4
  %2867 = call float @llvm.fma.f32(float %2864, float %2865, float %2866)
  store float %2867, ptr %local424, align 4
  %2868 = load float, ptr %local210, align 4
  %2869 = load float, ptr %local316, align 4
  %2870 = load float, ptr %local432, align 4
  %2871 = call float @llvm.fma.f32(float %2868, float %2869, float %2870)
  store float %2871, ptr %local432, align 4
  %2872 = load float, ptr %local210, align 4
  %2873 = load float, ptr %local317, align 4
  %2874 = load float, ptr %local440, align 4
  %2875 = call float @llvm.fma.f32(float %2872, float %2873, float %2874)
  store float %2875, ptr %local440, align 4
  %2876 = load float, ptr %local210, align 4
  %2877 = load float, ptr %local318, align 4
  %2878 = load float, ptr %local448, align 4
  %2879 = call float @llvm.fma.f32(float %2876, float %2877, float %2878)
  store float %2879, ptr %local448, align 4
  %2880 = load float, ptr %local210, align 4
  %2881 = load float, ptr %local319, align 4
  %2882 = load float, ptr %local456, align 4
  %2883 = call float @llvm.fma.f32(float %2880, float %2881, float %2882)
  store float %2883, ptr %local456, align 4
  %2884 = load float, ptr %local210, align 4
  %2885 = load float, ptr %local320, align 4
  %2886 = load float, ptr %local464, align 4
  %2887 = call float @llvm.fma.f32(float %2884, float %2885, float %2886)
  store float %2887, ptr %local464, align 4
  %2888 = load float, ptr %local210, align 4
  %2889 = load float, ptr %local321, align 4
  %2890 = load float, ptr %local472, align 4
  %2891 = call float @llvm.fma.f32(float %2888, float %2889, float %2890)
  store float %2891, ptr %local472, align 4
  %2892 = load float, ptr %local210, align 4
  %2893 = load float, ptr %local322, align 4
  %2894 = load float, ptr %local480, align 4
  %2895 = call float @llvm.fma.f32(float %2892, float %2893, float %2894)
  store float %2895, ptr %local480, align 4
  %2896 = load float, ptr %local211, align 4
  %2897 = load float, ptr %local3, align 4
  %2898 = load float, ptr %local425, align 4
  %2899 = call float @llvm.fma.f32(float %2896, float %2897, float %2898)
  store float %2899, ptr %local425, align 4
  %2900 = load float, ptr %local211, align 4
  %2901 = load float, ptr %local316, align 4
  %2902 = load float, ptr %local433, align 4
  %2903 = call float @llvm.fma.f32(float %2900, float %2901, float %2902)
  store float %2903, ptr %local433, align 4
  %2904 = load float, ptr %local211, align 4
  %2905 = load float, ptr %local317, align 4
  %2906 = load float, ptr %local441, align 4
  %2907 = call float @llvm.fma.f32(float %2904, float %2905, float %2906)
  store float %2907, ptr %local441, align 4
  %2908 = load float, ptr %local211, align 4
  %2909 = load float, ptr %local318, align 4
  %2910 = load float, ptr %local449, align 4
  %2911 = call float @llvm.fma.f32(float %2908, float %2909, float %2910)
  store float %2911, ptr %local449, align 4
  %2912 = load float, ptr %local211, align 4
  %2913 = load float, ptr %local319, align 4
  %2914 = load float, ptr %local457, align 4
  %2915 = call float @llvm.fma.f32(float %2912, float %2913, float %2914)
  store float %2915, ptr %local457, align 4
  %2916 = load float, ptr %local211, align 4
  %2917 = load float, ptr %local320, align 4
  %2918 = load float, ptr %local465, align 4
  %2919 = call float @llvm.fma.f32(float %2916, float %2917, float %2918)
  store float %2919, ptr %local465, align 4
  %2920 = load float, ptr %local211, align 4
  %2921 = load float, ptr %local321, align 4
  %2922 = load float, ptr %local473, align 4
  %2923 = call float @llvm.fma.f32(float %2920, float %2921, float %2922)
  store float %2923, ptr %local473, align 4
  %2924 = load float, ptr %local211, align 4
  %2925 = load float, ptr %local322, align 4
  %2926 = load float, ptr %local481, align 4
  %2927 = call float @llvm.fma.f32(float %2924, float %2925, float %2926)
  store float %2927, ptr %local481, align 4
  %2928 = load float, ptr %local212, align 4
  %2929 = load float, ptr %local3, align 4
  %2930 = load float, ptr %local426, align 4
  %2931 = call float @llvm.fma.f32(float %2928, float %2929, float %2930)
  store float %2931, ptr %local426, align 4
  %2932 = load float, ptr %local212, align 4
  %2933 = load float, ptr %local316, align 4
  %2934 = load float, ptr %local434, align 4
  %2935 = call float @llvm.fma.f32(float %2932, float %2933, float %2934)
  store float %2935, ptr %local434, align 4
  %2936 = load float, ptr %local212, align 4
  %2937 = load float, ptr %local317, align 4
  %2938 = load float, ptr %local442, align 4
  %2939 = call float @llvm.fma.f32(float %2936, float %2937, float %2938)
  store float %2939, ptr %local442, align 4
  %2940 = load float, ptr %local212, align 4
  %2941 = load float, ptr %local318, align 4
  %2942 = load float, ptr %local450, align 4
  %2943 = call float @llvm.fma.f32(float %2940, float %2941, float %2942)
  store float %2943, ptr %local450, align 4
  %2944 = load float, ptr %local212, align 4
  %2945 = load float, ptr %local319, align 4
  %2946 = load float, ptr %local458, align 4
  %2947 = call float @llvm.fma.f32(float %2944, float %2945, float %2946)
  store float %2947, ptr %local458, align 4
  %2948 = load float, ptr %local212, align 4
  %2949 = load float, ptr %local320, align 4
  %2950 = load float, ptr %local466, align 4
  %2951 = call float @llvm.fma.f32(float %2948, float %2949, float %2950)
  store float %2951, ptr %local466, align 4
  %2952 = load float, ptr %local212, align 4
  %2953 = load float, ptr %local321, align 4
  %2954 = load float, ptr %local474, align 4
  %2955 = call float @llvm.fma.f32(float %2952, float %2953, float %2954)
  store float %2955, ptr %local474, align 4
  %2956 = load float, ptr %local212, align 4
  %2957 = load float, ptr %local322, align 4
  %2958 = load float, ptr %local482, align 4
  %2959 = call float @llvm.fma.f32(float %2956, float %2957, float %2958)
  store float %2959, ptr %local482, align 4
  %2960 = load float, ptr %local213, align 4
  %2961 = load float, ptr %local3, align 4
  %2962 = load float, ptr %local427, align 4
  %2963 = call float @llvm.fma.f32(float %2960, float %2961, float %2962)
  store float %2963, ptr %local427, align 4
  %2964 = load float, ptr %local213, align 4
  %2965 = load float, ptr %local316, align 4
  %2966 = load float, ptr %local435, align 4
  %2967 = call float @llvm.fma.f32(float %2964, float %2965, float %2966)
  store float %2967, ptr %local435, align 4
  %2968 = load float, ptr %local213, align 4
  %2969 = load float, ptr %local317, align 4
  %2970 = load float, ptr %local443, align 4
  %2971 = call float @llvm.fma.f32(float %2968, float %2969, float %2970)
  store float %2971, ptr %local443, align 4
  %2972 = load float, ptr %local213, align 4
  %2973 = load float, ptr %local318, align 4
  %2974 = load float, ptr %local451, align 4
  %2975 = call float @llvm.fma.f32(float %2972, float %2973, float %2974)
  store float %2975, ptr %local451, align 4
  %2976 = load float, ptr %local213, align 4
  %2977 = load float, ptr %local319, align 4
  %2978 = load float, ptr %local459, align 4
  %2979 = call float @llvm.fma.f32(float %2976, float %2977, float %2978)
  store float %2979, ptr %local459, align 4
  %2980 = load float, ptr %local213, align 4
  %2981 = load float, ptr %local320, align 4
  %2982 = load float, ptr %local467, align 4
  %2983 = call float @llvm.fma.f32(float %2980, float %2981, float %2982)
  store float %2983, ptr %local467, align 4
  %2984 = load float, ptr %local213, align 4
  %2985 = load float, ptr %local321, align 4
  %2986 = load float, ptr %local475, align 4
  %2987 = call float @llvm.fma.f32(float %2984, float %2985, float %2986)
  store float %2987, ptr %local475, align 4
  %2988 = load float, ptr %local213, align 4
  %2989 = load float, ptr %local322, align 4
  %2990 = load float, ptr %local483, align 4
  %2991 = call float @llvm.fma.f32(float %2988, float %2989, float %2990)
  store float %2991, ptr %local483, align 4
  %2992 = load float, ptr %local214, align 4
  %2993 = load float, ptr %local3, align 4
  %2994 = load float, ptr %local428, align 4
  %2995 = call float @llvm.fma.f32(float %2992, float %2993, float %2994)
  store float %2995, ptr %local428, align 4
  %2996 = load float, ptr %local214, align 4
  %2997 = load float, ptr %local316, align 4
  %2998 = load float, ptr %local436, align 4
  %2999 = call float @llvm.fma.f32(float %2996, float %2997, float %2998)
  store float %2999, ptr %local436, align 4
  %3000 = load float, ptr %local214, align 4
  %3001 = load float, ptr %local317, align 4
  %3002 = load float, ptr %local444, align 4
  %3003 = call float @llvm.fma.f32(float %3000, float %3001, float %3002)
  store float %3003, ptr %local444, align 4
  %3004 = load float, ptr %local214, align 4
  %3005 = load float, ptr %local318, align 4
  %3006 = load float, ptr %local452, align 4
  %3007 = call float @llvm.fma.f32(float %3004, float %3005, float %3006)
  store float %3007, ptr %local452, align 4
  %3008 = load float, ptr %local214, align 4
  %3009 = load float, ptr %local319, align 4
  %3010 = load float, ptr %local460, align 4
  %3011 = call float @llvm.fma.f32(float %3008, float %3009, float %3010)
  store float %3011, ptr %local460, align 4
  %3012 = load float, ptr %local214, align 4
  %3013 = load float, ptr %local320, align 4
  %3014 = load float, ptr %local468, align 4
  %3015 = call float @llvm.fma.f32(float %3012, float %3013, float %3014)
  store float %3015, ptr %local468, align 4
  %3016 = load float, ptr %local214, align 4
  %3017 = load float, ptr %local321, align 4
  %3018 = load float, ptr %local476, align 4
  %3019 = call float @llvm.fma.f32(float %3016, float %3017, float %3018)
  store float %3019, ptr %local476, align 4
  %3020 = load float, ptr %local214, align 4
  %3021 = load float, ptr %local322, align 4
  %3022 = load float, ptr %local484, align 4
  %3023 = call float @llvm.fma.f32(float %3020, float %3021, float %3022)
  store float %3023, ptr %local484, align 4
  %3024 = load float, ptr %local215, align 4
  %3025 = load float, ptr %local3, align 4
  %3026 = load float, ptr %local429, align 4
  %3027 = call float @llvm.fma.f32(float %3024, float %3025, float %3026)
  store float %3027, ptr %local429, align 4
  %3028 = load float, ptr %local215, align 4
  %3029 = load float, ptr %local316, align 4
  %3030 = load float, ptr %local437, align 4
  %3031 = call float @llvm.fma.f32(float %3028, float %3029, float %3030)
  store float %3031, ptr %local437, align 4
  %3032 = load float, ptr %local215, align 4
  %3033 = load float, ptr %local317, align 4
  %3034 = load float, ptr %local445, align 4
  %3035 = call float @llvm.fma.f32(float %3032, float %3033, float %3034)
  store float %3035, ptr %local445, align 4
  %3036 = load float, ptr %local215, align 4
  %3037 = load float, ptr %local318, align 4
  %3038 = load float, ptr %local453, align 4
  %3039 = call float @llvm.fma.f32(float %3036, float %3037, float %3038)
  store float %3039, ptr %local453, align 4
  %3040 = load float, ptr %local215, align 4
  %3041 = load float, ptr %local319, align 4
  %3042 = load float, ptr %local461, align 4
  %3043 = call float @llvm.fma.f32(float %3040, float %3041, float %3042)
  store float %3043, ptr %local461, align 4
  %3044 = load float, ptr %local215, align 4
  %3045 = load float, ptr %local320, align 4
  %3046 = load float, ptr %local469, align 4
  %3047 = call float @llvm.fma.f32(float %3044, float %3045, float %3046)
  store float %3047, ptr %local469, align 4
  %3048 = load float, ptr %local215, align 4
  %3049 = load float, ptr %local321, align 4
  %3050 = load float, ptr %local477, align 4
  %3051 = call float @llvm.fma.f32(float %3048, float %3049, float %3050)
  store float %3051, ptr %local477, align 4
  %3052 = load float, ptr %local215, align 4
  %3053 = load float, ptr %local322, align 4
  %3054 = load float, ptr %local485, align 4
  %3055 = call float @llvm.fma.f32(float %3052, float %3053, float %3054)
  store float %3055, ptr %local485, align 4
  %3056 = mul nsw i32 %212, 2112
  %3057 = add nsw i32 660, %3056
  %3058 = mul nsw i32 %10, 4
  %3059 = add nsw i32 %3057, %3058
  %3060 = add i32 %3056, %3058
  %3061 = mul nsw i32 %3059, 4
  %3062 = mul i32 %3060, 4
  %3063 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %3062
  %3064 = getelementptr i8, ptr addrspace(3) %3063, i64 2640
  %3065 = load <4 x float>, ptr addrspace(3) %3064, align 16
  %3066 = extractelement <4 x float> %3065, i32 0
  %3067 = extractelement <4 x float> %3065, i32 1
  %3068 = extractelement <4 x float> %3065, i32 2
  %3069 = extractelement <4 x float> %3065, i32 3
  %3070 = insertelement <4 x float> undef, float %3066, i32 0
  %3071 = insertelement <4 x float> %3070, float %3067, i32 1
  %3072 = insertelement <4 x float> %3071, float %3068, i32 2
  %3073 = insertelement <4 x float> %3072, float %3069, i32 3
  store float %3066, ptr %local2, align 4
  store float %3067, ptr %local29, align 4
  store float %3068, ptr %local210, align 4
  store float %3069, ptr %local211, align 4
  %3074 = mul nsw i32 %212, 2112
  %3075 = add nsw i32 660, %3074
  %3076 = add nsw i32 16, %10
  %3077 = mul nsw i32 %3076, 4
  %3078 = mul i32 %10, 4
  %3079 = add nsw i32 %3075, %3077
  %3080 = add i32 %3074, %3078
  %3081 = mul nsw i32 %3079, 4
  %3082 = mul i32 %3080, 4
  %3083 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %3082
  %3084 = getelementptr i8, ptr addrspace(3) %3083, i64 2896
  %3085 = load <4 x float>, ptr addrspace(3) %3084, align 16
  %3086 = extractelement <4 x float> %3085, i32 0
  %3087 = extractelement <4 x float> %3085, i32 1
  %3088 = extractelement <4 x float> %3085, i32 2
  %3089 = extractelement <4 x float> %3085, i32 3
  %3090 = insertelement <4 x float> undef, float %3086, i32 0
  %3091 = insertelement <4 x float> %3090, float %3087, i32 1
  %3092 = insertelement <4 x float> %3091, float %3088, i32 2
  %3093 = insertelement <4 x float> %3092, float %3089, i32 3
  store float %3086, ptr %local212, align 4
  store float %3087, ptr %local213, align 4
  store float %3088, ptr %local214, align 4
  store float %3089, ptr %local215, align 4
  %3094 = mul nsw i32 %212, 2048
  %3095 = add nsw i32 640, %3094
  %3096 = mul nsw i32 %9, 4
  %3097 = add nsw i32 %3095, %3096
  %3098 = add i32 %3094, %3096
  %3099 = mul nsw i32 %3097, 4
  %3100 = mul i32 %3098, 4
  %3101 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %3100
  %3102 = getelementptr i8, ptr addrspace(3) %3101, i64 2560
  %3103 = load <4 x float>, ptr addrspace(3) %3102, align 16
  %3104 = extractelement <4 x float> %3103, i32 0
  %3105 = extractelement <4 x float> %3103, i32 1
  %3106 = extractelement <4 x float> %3103, i32 2
  %3107 = extractelement <4 x float> %3103, i32 3
  %3108 = insertelement <4 x float> undef, float %3104, i32 0
  %3109 = insertelement <4 x float> %3108, float %3105, i32 1
  %3110 = insertelement <4 x float> %3109, float %3106, i32 2
  %3111 = insertelement <4 x float> %3110, float %3107, i32 3
  store float %3104, ptr %local3, align 4
  store float %3105, ptr %local316, align 4
  store float %3106, ptr %local317, align 4
  store float %3107, ptr %local318, align 4
  %3112 = mul nsw i32 %212, 2048
  %3113 = add nsw i32 640, %3112
  %3114 = add nsw i32 16, %9
  %3115 = mul nsw i32 %3114, 4
  %3116 = mul i32 %9, 4
  %3117 = add nsw i32 %3113, %3115
  %3118 = add i32 %3112, %3116
  %3119 = mul nsw i32 %3117, 4
  %3120 = mul i32 %3118, 4
  %3121 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %3120
  %3122 = getelementptr i8, ptr addrspace(3) %3121, i64 2816
  %3123 = load <4 x float>, ptr addrspace(3) %3122, align 16
  %3124 = extractelement <4 x float> %3123, i32 0
  %3125 = extractelement <4 x float> %3123, i32 1
  %3126 = extractelement <4 x float> %3123, i32 2
  %3127 = extractelement <4 x float> %3123, i32 3
  %3128 = insertelement <4 x float> undef, float %3124, i32 0
  %3129 = insertelement <4 x float> %3128, float %3125, i32 1
  %3130 = insertelement <4 x float> %3129, float %3126, i32 2
  %3131 = insertelement <4 x float> %3130, float %3127, i32 3
  store float %3124, ptr %local319, align 4
  store float %3125, ptr %local320, align 4
  store float %3126, ptr %local321, align 4
  store float %3127, ptr %local322, align 4
  %3132 = load float, ptr %local2, align 4
  %3133 = load float, ptr %local3, align 4
  %3134 = load float, ptr %local4, align 4
  %3135 = call float @llvm.fma.f32(float %3132, float %3133, float %3134)
  store float %3135, ptr %local4, align 4
  %3136 = load float, ptr %local2, align 4
  %3137 = load float, ptr %local316, align 4
  %3138 = load float, ptr %local430, align 4
  %3139 = call float @llvm.fma.f32(float %3136, float %3137, float %3138)
  store float %3139, ptr %local430, align 4
  %3140 = load float, ptr %local2, align 4
  %3141 = load float, ptr %local317, align 4
  %3142 = load float, ptr %local438, align 4
  %3143 = call float @llvm.fma.f32(float %3140, float %3141, float %3142)
  store float %3143, ptr %local438, align 4
  %3144 = load float, ptr %local2, align 4
  %3145 = load float, ptr %local318, align 4
  %3146 = load float, ptr %local446, align 4
  %3147 = call float @llvm.fma.f32(float %3144, float %3145, float %3146)
  store float %3147, ptr %local446, align 4
  %3148 = load float, ptr %local2, align 4
  %3149 = load float, ptr %local319, align 4
  %3150 = load float, ptr %local454, align 4
  %3151 = call float @llvm.fma.f32(float %3148, float %3149, float %3150)
  store float %3151, ptr %local454, align 4
  %3152 = load float, ptr %local2, align 4
  %3153 = load float, ptr %local320, align 4
  %3154 = load float, ptr %local462, align 4
  %3155 = call float @llvm.fma.f32(float %3152, float %3153, float %3154)
  store float %3155, ptr %local462, align 4
  %3156 = load float, ptr %local2, align 4
  %3157 = load float, ptr %local321, align 4
  %3158 = load float, ptr %local470, align 4
  %3159 = call float @llvm.fma.f32(float %3156, float %3157, float %3158)
  store float %3159, ptr %local470, align 4
  %3160 = load float, ptr %local2, align 4
  %3161 = load float, ptr %local322, align 4
  %3162 = load float, ptr %local478, align 4
  %3163 = call float @llvm.fma.f32(float %3160, float %3161, float %3162)
  store float %3163, ptr %local478, align 4
  %3164 = load float, ptr %local29, align 4
  %3165 = load float, ptr %local3, align 4
  %3166 = load float, ptr %local423, align 4
  %3167 = call float @llvm.fma.f32(float %3164, float %3165, float %3166)
  store float %3167, ptr %local423, align 4
  %3168 = load float, ptr %local29, align 4
  %3169 = load float, ptr %local316, align 4
  %3170 = load float, ptr %local431, align 4
  %3171 = call float @llvm.fma.f32(float %3168, float %3169, float %3170)
  store float %3171, ptr %local431, align 4
  %3172 = load float, ptr %local29, align 4
  %3173 = load float, ptr %local317, align 4
  %3174 = load float, ptr %local439, align 4
  %3175 = call float @llvm.fma.f32(float %3172, float %3173, float %3174)
  store float %3175, ptr %local439, align 4
  %3176 = load float, ptr %local29, align 4
  %3177 = load float, ptr %local318, align 4
  %3178 = load float, ptr %local447, align 4
  %3179 = call float @llvm.fma.f32(float %3176, float %3177, float %3178)
  store float %3179, ptr %local447, align 4
  %3180 = load float, ptr %local29, align 4
  %3181 = load float, ptr %local319, align 4
  %3182 = load float, ptr %local455, align 4
  %3183 = call float @llvm.fma.f32(float %3180, float %3181, float %3182)
  store float %3183, ptr %local455, align 4
  %3184 = load float, ptr %local29, align 4
  %3185 = load float, ptr %local320, align 4
  %3186 = load float, ptr %local463, align 4
  %3187 = call float @llvm.fma.f32(float %3184, float %3185, float %3186)
  store float %3187, ptr %local463, align 4
  %3188 = load float, ptr %local29, align 4
  %3189 = load float, ptr %local321, align 4
  %3190 = load float, ptr %local471, align 4
  %3191 = call float @llvm.fma.f32(float %3188, float %3189, float %3190)
  store float %3191, ptr %local471, align 4
  %3192 = load float, ptr %local29, align 4
  %3193 = load float, ptr %local322, align 4
  %3194 = load float, ptr %local479, align 4
  %3195 = call float @llvm.fma.f32(float %3192, float %3193, float %3194)
  store float %3195, ptr %local479, align 4
  %3196 = load float, ptr %local210, align 4
  %3197 = load float, ptr %local3, align 4
  %3198 = load float, ptr %local424, align 4
  %3199 = call float @llvm.fma.f32(float %3196, float %3197, float %3198)
  store float %3199, ptr %local424, align 4
  %3200 = load float, ptr %local210, align 4
  %3201 = load float, ptr %local316, align 4
  %3202 = load float, ptr %local432, align 4
  %3203 = call float @llvm.fma.f32(float %3200, float %3201, float %3202)
  store float %3203, ptr %local432, align 4
  %3204 = load float, ptr %local210, align 4
  %3205 = load float, ptr %local317, align 4
  %3206 = load float, ptr %local440, align 4
  %3207 = call float @llvm.fma.f32(float %3204, float %3205, float %3206)
  store float %3207, ptr %local440, align 4
  %3208 = load float, ptr %local210, align 4
  %3209 = load float, ptr %local318, align 4
  %3210 = load float, ptr %local448, align 4
  %3211 = call float @llvm.fma.f32(float %3208, float %3209, float %3210)
  store float %3211, ptr %local448, align 4
  %3212 = load float, ptr %local210, align 4
  %3213 = load float, ptr %local319, align 4
  %3214 = load float, ptr %local456, align 4
  %3215 = call float @llvm.fma.f32(float %3212, float %3213, float %3214)
  store float %3215, ptr %local456, align 4
  %3216 = load float, ptr %local210, align 4
  %3217 = load float, ptr %local320, align 4
  %3218 = load float, ptr %local464, align 4
  %3219 = call float @llvm.fma.f32(float %3216, float %3217, float %3218)
  store float %3219, ptr %local464, align 4
  %3220 = load float, ptr %local210, align 4
  %3221 = load float, ptr %local321, align 4
  %3222 = load float, ptr %local472, align 4
  %3223 = call float @llvm.fma.f32(float %3220, float %3221, float %3222)
  store float %3223, ptr %local472, align 4
  %3224 = load float, ptr %local210, align 4
  %3225 = load float, ptr %local322, align 4
  %3226 = load float, ptr %local480, align 4
  %3227 = call float @llvm.fma.f32(float %3224, float %3225, float %3226)
  store float %3227, ptr %local480, align 4
  %3228 = load float, ptr %local211, align 4
  %3229 = load float, ptr %local3, align 4
  %3230 = load float, ptr %local425, align 4
  %3231 = call float @llvm.fma.f32(float %3228, float %3229, float %3230)
  store float %3231, ptr %local425, align 4
  %3232 = load float, ptr %local211, align 4
  %3233 = load float, ptr %local316, align 4
  %3234 = load float, ptr %local433, align 4
  %3235 = call float @llvm.fma.f32(float %3232, float %3233, float %3234)
  store float %3235, ptr %local433, align 4
  %3236 = load float, ptr %local211, align 4
  %3237 = load float, ptr %local317, align 4
  %3238 = load float, ptr %local441, align 4
  %3239 = call float @llvm.fma.f32(float %3236, float %3237, float %3238)
  store float %3239, ptr %local441, align 4
  %3240 = load float, ptr %local211, align 4
  %3241 = load float, ptr %local318, align 4
  %3242 = load float, ptr %local449, align 4
  %3243 = call float @llvm.fma.f32(float %3240, float %3241, float %3242)
  store float %3243, ptr %local449, align 4
  %3244 = load float, ptr %local211, align 4
  %3245 = load float, ptr %local319, align 4
  %3246 = load float, ptr %local457, align 4
  %3247 = call float @llvm.fma.f32(float %3244, float %3245, float %3246)
  store float %3247, ptr %local457, align 4
  %3248 = load float, ptr %local211, align 4
  %3249 = load float, ptr %local320, align 4
  %3250 = load float, ptr %local465, align 4
  %3251 = call float @llvm.fma.f32(float %3248, float %3249, float %3250)
  store float %3251, ptr %local465, align 4
  %3252 = load float, ptr %local211, align 4
  %3253 = load float, ptr %local321, align 4
  %3254 = load float, ptr %local473, align 4
  %3255 = call float @llvm.fma.f32(float %3252, float %3253, float %3254)
  store float %3255, ptr %local473, align 4
  %3256 = load float, ptr %local211, align 4
  %3257 = load float, ptr %local322, align 4
  %3258 = load float, ptr %local481, align 4
  %3259 = call float @llvm.fma.f32(float %3256, float %3257, float %3258)
  store float %3259, ptr %local481, align 4
  %3260 = load float, ptr %local212, align 4
  %3261 = load float, ptr %local3, align 4
  %3262 = load float, ptr %local426, align 4
  %3263 = call float @llvm.fma.f32(float %3260, float %3261, float %3262)
  store float %3263, ptr %local426, align 4
  %3264 = load float, ptr %local212, align 4
  %3265 = load float, ptr %local316, align 4
  %3266 = load float, ptr %local434, align 4
  %3267 = call float @llvm.fma.f32(float %3264, float %3265, float %3266)
  store float %3267, ptr %local434, align 4
  %3268 = load float, ptr %local212, align 4
  %3269 = load float, ptr %local317, align 4
  %3270 = load float, ptr %local442, align 4
  %3271 = call float @llvm.fma.f32(float %3268, float %3269, float %3270)
  store float %3271, ptr %local442, align 4
  %3272 = load float, ptr %local212, align 4
  %3273 = load float, ptr %local318, align 4
  %3274 = load float, ptr %local450, align 4
  %3275 = call float @llvm.fma.f32(float %3272, float %3273, float %3274)
  store float %3275, ptr %local450, align 4
  %3276 = load float, ptr %local212, align 4
  %3277 = load float, ptr %local319, align 4
  %3278 = load float, ptr %local458, align 4
  %3279 = call float @llvm.fma.f32(float %3276, float %3277, float %3278)
  store float %3279, ptr %local458, align 4
  %3280 = load float, ptr %local212, align 4
  %3281 = load float, ptr %local320, align 4
  %3282 = load float, ptr %local466, align 4
  %3283 = call float @llvm.fma.f32(float %3280, float %3281, float %3282)
  store float %3283, ptr %local466, align 4
  %3284 = load float, ptr %local212, align 4
  %3285 = load float, ptr %local321, align 4
  %3286 = load float, ptr %local474, align 4
  %3287 = call float @llvm.fma.f32(float %3284, float %3285, float %3286)
  store float %3287, ptr %local474, align 4
  %3288 = load float, ptr %local212, align 4
  %3289 = load float, ptr %local322, align 4
  %3290 = load float, ptr %local482, align 4
  %3291 = call float @llvm.fma.f32(float %3288, float %3289, float %3290)
  store float %3291, ptr %local482, align 4
  %3292 = load float, ptr %local213, align 4
  %3293 = load float, ptr %local3, align 4
  %3294 = load float, ptr %local427, align 4
  %3295 = call float @llvm.fma.f32(float %3292, float %3293, float %3294)
  store float %3295, ptr %local427, align 4
  %3296 = load float, ptr %local213, align 4
  %3297 = load float, ptr %local316, align 4
  %3298 = load float, ptr %local435, align 4
  %3299 = call float @llvm.fma.f32(float %3296, float %3297, float %3298)
  store float %3299, ptr %local435, align 4
  %3300 = load float, ptr %local213, align 4
  %3301 = load float, ptr %local317, align 4
  %3302 = load float, ptr %local443, align 4
  %3303 = call float @llvm.fma.f32(float %3300, float %3301, float %3302)
  store float %3303, ptr %local443, align 4
  %3304 = load float, ptr %local213, align 4
  %3305 = load float, ptr %local318, align 4
  %3306 = load float, ptr %local451, align 4
  %3307 = call float @llvm.fma.f32(float %3304, float %3305, float %3306)
  store float %3307, ptr %local451, align 4
  %3308 = load float, ptr %local213, align 4
  %3309 = load float, ptr %local319, align 4
  %3310 = load float, ptr %local459, align 4
  %3311 = call float @llvm.fma.f32(float %3308, float %3309, float %3310)
  store float %3311, ptr %local459, align 4
  %3312 = load float, ptr %local213, align 4
  %3313 = load float, ptr %local320, align 4
  %3314 = load float, ptr %local467, align 4
  %3315 = call float @llvm.fma.f32(float %3312, float %3313, float %3314)
  store float %3315, ptr %local467, align 4
  %3316 = load float, ptr %local213, align 4
  %3317 = load float, ptr %local321, align 4
  %3318 = load float, ptr %local475, align 4
  %3319 = call float @llvm.fma.f32(float %3316, float %3317, float %3318)
  store float %3319, ptr %local475, align 4
  %3320 = load float, ptr %local213, align 4
  %3321 = load float, ptr %local322, align 4
  %3322 = load float, ptr %local483, align 4
  %3323 = call float @llvm.fma.f32(float %3320, float %3321, float %3322)
  store float %3323, ptr %local483, align 4
  %3324 = load float, ptr %local214, align 4
  %3325 = load float, ptr %local3, align 4
  %3326 = load float, ptr %local428, align 4
  %3327 = call float @llvm.fma.f32(float %3324, float %3325, float %3326)
  store float %3327, ptr %local428, align 4
  %3328 = load float, ptr %local214, align 4
  %3329 = load float, ptr %local316, align 4
  %3330 = load float, ptr %local436, align 4
  %3331 = call float @llvm.fma.f32(float %3328, float %3329, float %3330)
  store float %3331, ptr %local436, align 4
  %3332 = load float, ptr %local214, align 4
  %3333 = load float, ptr %local317, align 4
  %3334 = load float, ptr %local444, align 4
  %3335 = call float @llvm.fma.f32(float %3332, float %3333, float %3334)
  store float %3335, ptr %local444, align 4
  %3336 = load float, ptr %local214, align 4
  %3337 = load float, ptr %local318, align 4
  %3338 = load float, ptr %local452, align 4
  %3339 = call float @llvm.fma.f32(float %3336, float %3337, float %3338)
  store float %3339, ptr %local452, align 4
  %3340 = load float, ptr %local214, align 4
  %3341 = load float, ptr %local319, align 4
  %3342 = load float, ptr %local460, align 4
  %3343 = call float @llvm.fma.f32(float %3340, float %3341, float %3342)
  store float %3343, ptr %local460, align 4
  %3344 = load float, ptr %local214, align 4
  %3345 = load float, ptr %local320, align 4
  %3346 = load float, ptr %local468, align 4
  %3347 = call float @llvm.fma.f32(float %3344, float %3345, float %3346)
  store float %3347, ptr %local468, align 4
  %3348 = load float, ptr %local214, align 4
  %3349 = load float, ptr %local321, align 4
  %3350 = load float, ptr %local476, align 4
  %3351 = call float @llvm.fma.f32(float %3348, float %3349, float %3350)
  store float %3351, ptr %local476, align 4
  %3352 = load float, ptr %local214, align 4
  %3353 = load float, ptr %local322, align 4
  %3354 = load float, ptr %local484, align 4
  %3355 = call float @llvm.fma.f32(float %3352, float %3353, float %3354)
  store float %3355, ptr %local484, align 4
  %3356 = load float, ptr %local215, align 4
  %3357 = load float, ptr %local3, align 4
  %3358 = load float, ptr %local429, align 4
  %3359 = call float @llvm.fma.f32(float %3356, float %3357, float %3358)
  store float %3359, ptr %local429, align 4
  %3360 = load float, ptr %local215, align 4
  %3361 = load float, ptr %local316, align 4
  %3362 = load float, ptr %local437, align 4
  %3363 = call float @llvm.fma.f32(float %3360, float %3361, float %3362)
  store float %3363, ptr %local437, align 4
  %3364 = load float, ptr %local215, align 4
  %3365 = load float, ptr %local317, align 4
  %3366 = load float, ptr %local445, align 4
  %3367 = call float @llvm.fma.f32(float %3364, float %3365, float %3366)
  store float %3367, ptr %local445, align 4
  %3368 = load float, ptr %local215, align 4
  %3369 = load float, ptr %local318, align 4
  %3370 = load float, ptr %local453, align 4
  %3371 = call float @llvm.fma.f32(float %3368, float %3369, float %3370)
  store float %3371, ptr %local453, align 4
  %3372 = load float, ptr %local215, align 4
  %3373 = load float, ptr %local319, align 4
  %3374 = load float, ptr %local461, align 4
  %3375 = call float @llvm.fma.f32(float %3372, float %3373, float %3374)
  store float %3375, ptr %local461, align 4
  %3376 = load float, ptr %local215, align 4
  %3377 = load float, ptr %local320, align 4
  %3378 = load float, ptr %local469, align 4
  %3379 = call float @llvm.fma.f32(float %3376, float %3377, float %3378)
  store float %3379, ptr %local469, align 4
  %3380 = load float, ptr %local215, align 4
  %3381 = load float, ptr %local321, align 4
  %3382 = load float, ptr %local477, align 4
  %3383 = call float @llvm.fma.f32(float %3380, float %3381, float %3382)
  store float %3383, ptr %local477, align 4
  %3384 = load float, ptr %local215, align 4
  %3385 = load float, ptr %local322, align 4
  %3386 = load float, ptr %local485, align 4
  %3387 = call float @llvm.fma.f32(float %3384, float %3385, float %3386)
  store float %3387, ptr %local485, align 4
  %3388 = mul nsw i32 %212, 2112
  %3389 = add nsw i32 792, %3388
  %3390 = mul nsw i32 %10, 4
  %3391 = add nsw i32 %3389, %3390
  %3392 = add i32 %3388, %3390
  %3393 = mul nsw i32 %3391, 4
  %3394 = mul i32 %3392, 4
  %3395 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %3394
  %3396 = getelementptr i8, ptr addrspace(3) %3395, i64 3168
  %3397 = load <4 x float>, ptr addrspace(3) %3396, align 16
  %3398 = extractelement <4 x float> %3397, i32 0
  %3399 = extractelement <4 x float> %3397, i32 1
  %3400 = extractelement <4 x float> %3397, i32 2
  %3401 = extractelement <4 x float> %3397, i32 3
  %3402 = insertelement <4 x float> undef, float %3398, i32 0
  %3403 = insertelement <4 x float> %3402, float %3399, i32 1
  %3404 = insertelement <4 x float> %3403, float %3400, i32 2
  %3405 = insertelement <4 x float> %3404, float %3401, i32 3
  store float %3398, ptr %local2, align 4
  store float %3399, ptr %local29, align 4
  store float %3400, ptr %local210, align 4
  store float %3401, ptr %local211, align 4
  %3406 = mul nsw i32 %212, 2112
  %3407 = add nsw i32 792, %3406
  %3408 = add nsw i32 16, %10
  %3409 = mul nsw i32 %3408, 4
  %3410 = mul i32 %10, 4
  %3411 = add nsw i32 %3407, %3409
  %3412 = add i32 %3406, %3410
  %3413 = mul nsw i32 %3411, 4
  %3414 = mul i32 %3412, 4
  %3415 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %3414
  %3416 = getelementptr i8, ptr addrspace(3) %3415, i64 3424
  %3417 = load <4 x float>, ptr addrspace(3) %3416, align 16
  %3418 = extractelement <4 x float> %3417, i32 0
  %3419 = extractelement <4 x float> %3417, i32 1
  %3420 = extractelement <4 x float> %3417, i32 2
  %3421 = extractelement <4 x float> %3417, i32 3
  %3422 = insertelement <4 x float> undef, float %3418, i32 0
  %3423 = insertelement <4 x float> %3422, float %3419, i32 1
  %3424 = insertelement <4 x float> %3423, float %3420, i32 2
  %3425 = insertelement <4 x float> %3424, float %3421, i32 3
  store float %3418, ptr %local212, align 4
  store float %3419, ptr %local213, align 4
  store float %3420, ptr %local214, align 4
  store float %3421, ptr %local215, align 4
  %3426 = mul nsw i32 %212, 2048
  %3427 = add nsw i32 768, %3426
  %3428 = mul nsw i32 %9, 4
  %3429 = add nsw i32 %3427, %3428
  %3430 = add i32 %3426, %3428
  %3431 = mul nsw i32 %3429, 4
  %3432 = mul i32 %3430, 4
  %3433 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %3432
  %3434 = getelementptr i8, ptr addrspace(3) %3433, i64 3072
  %3435 = load <4 x float>, ptr addrspace(3) %3434, align 16
  %3436 = extractelement <4 x float> %3435, i32 0
  %3437 = extractelement <4 x float> %3435, i32 1
  %3438 = extractelement <4 x float> %3435, i32 2
  %3439 = extractelement <4 x float> %3435, i32 3
  %3440 = insertelement <4 x float> undef, float %3436, i32 0
  %3441 = insertelement <4 x float> %3440, float %3437, i32 1
  %3442 = insertelement <4 x float> %3441, float %3438, i32 2
  %3443 = insertelement <4 x float> %3442, float %3439, i32 3
  store float %3436, ptr %local3, align 4
  store float %3437, ptr %local316, align 4
  store float %3438, ptr %local317, align 4
  store float %3439, ptr %local318, align 4
  %3444 = mul nsw i32 %212, 2048
  %3445 = add nsw i32 768, %3444
  %3446 = add nsw i32 16, %9
  %3447 = mul nsw i32 %3446, 4
  %3448 = mul i32 %9, 4
  %3449 = add nsw i32 %3445, %3447
  %3450 = add i32 %3444, %3448
  %3451 = mul nsw i32 %3449, 4
  %3452 = mul i32 %3450, 4
  %3453 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %3452
  %3454 = getelementptr i8, ptr addrspace(3) %3453, i64 3328
  %3455 = load <4 x float>, ptr addrspace(3) %3454, align 16
  %3456 = extractelement <4 x float> %3455, i32 0
  %3457 = extractelement <4 x float> %3455, i32 1
  %3458 = extractelement <4 x float> %3455, i32 2
  %3459 = extractelement <4 x float> %3455, i32 3
  %3460 = insertelement <4 x float> undef, float %3456, i32 0
  %3461 = insertelement <4 x float> %3460, float %3457, i32 1
  %3462 = insertelement <4 x float> %3461, float %3458, i32 2
  %3463 = insertelement <4 x float> %3462, float %3459, i32 3
  store float %3456, ptr %local319, align 4
  store float %3457, ptr %local320, align 4
  store float %3458, ptr %local321, align 4
  store float %3459, ptr %local322, align 4
  %3464 = load float, ptr %local2, align 4
  %3465 = load float, ptr %local3, align 4
  %3466 = load float, ptr %local4, align 4
  %3467 = call float @llvm.fma.f32(float %3464, float %3465, float %3466)
  store float %3467, ptr %local4, align 4
  %3468 = load float, ptr %local2, align 4
  %3469 = load float, ptr %local316, align 4
  %3470 = load float, ptr %local430, align 4
  %3471 = call float @llvm.fma.f32(float %3468, float %3469, float %3470)
  store float %3471, ptr %local430, align 4
  %3472 = load float, ptr %local2, align 4
  %3473 = load float, ptr %local317, align 4
  %3474 = load float, ptr %local438, align 4
  %3475 = call float @llvm.fma.f32(float %3472, float %3473, float %3474)
  store float %3475, ptr %local438, align 4
  %3476 = load float, ptr %local2, align 4
  %3477 = load float, ptr %local318, align 4
  %3478 = load float, ptr %local446, align 4
  %3479 = call float @llvm.fma.f32(float %3476, float %3477, float %3478)
  store float %3479, ptr %local446, align 4
  %3480 = load float, ptr %local2, align 4
  %3481 = load float, ptr %local319, align 4
  %3482 = load float, ptr %local454, align 4
  %3483 = call float @llvm.fma.f32(float %3480, float %3481, float %3482)
  store float %3483, ptr %local454, align 4
  %3484 = load float, ptr %local2, align 4
  %3485 = load float, ptr %local320, align 4
  %3486 = load float, ptr %local462, align 4
  %3487 = call float @llvm.fma.f32(float %3484, float %3485, float %3486)
  store float %3487, ptr %local462, align 4
  %3488 = load float, ptr %local2, align 4
  %3489 = load float, ptr %local321, align 4
  %3490 = load float, ptr %local470, align 4
  %3491 = call float @llvm.fma.f32(float %3488, float %3489, float %3490)
  store float %3491, ptr %local470, align 4
  %3492 = load float, ptr %local2, align 4
  %3493 = load float, ptr %local322, align 4
  %3494 = load float, ptr %local478, align 4
  %3495 = call float @llvm.fma.f32(float %3492, float %3493, float %3494)
  store float %3495, ptr %local478, align 4
  %3496 = load float, ptr %local29, align 4
  %3497 = load float, ptr %local3, align 4
  %3498 = load float, ptr %local423, align 4
  %3499 = call float @llvm.fma.f32(float %3496, float %3497, float %3498)
  store float %3499, ptr %local423, align 4
  %3500 = load float, ptr %local29, align 4
  %3501 = load float, ptr %local316, align 4
  %3502 = load float, ptr %local431, align 4
  %3503 = call float @llvm.fma.f32(float %3500, float %3501, float %3502)
  store float %3503, ptr %local431, align 4
  %3504 = load float, ptr %local29, align 4
  %3505 = load float, ptr %local317, align 4
  %3506 = load float, ptr %local439, align 4
  %3507 = call float @llvm.fma.f32(float %3504, float %3505, float %3506)
  store float %3507, ptr %local439, align 4
  %3508 = load float, ptr %local29, align 4
  %3509 = load float, ptr %local318, align 4
  %3510 = load float, ptr %local447, align 4
  %3511 = call float @llvm.fma.f32(float %3508, float %3509, float %3510)
  store float %3511, ptr %local447, align 4
  %3512 = load float, ptr %local29, align 4
  %3513 = load float, ptr %local319, align 4
  %3514 = load float, ptr %local455, align 4
  %3515 = call float @llvm.fma.f32(float %3512, float %3513, float %3514)
  store float %3515, ptr %local455, align 4
  %3516 = load float, ptr %local29, align 4
  %3517 = load float, ptr %local320, align 4
  %3518 = load float, ptr %local463, align 4
  %3519 = call float @llvm.fma.f32(float %3516, float %3517, float %3518)
  store float %3519, ptr %local463, align 4
  %3520 = load float, ptr %local29, align 4
  %3521 = load float, ptr %local321, align 4
  %3522 = load float, ptr %local471, align 4
  %3523 = call float @llvm.fma.f32(float %3520, float %3521, float %3522)
  store float %3523, ptr %local471, align 4
  %3524 = load float, ptr %local29, align 4
  %3525 = load float, ptr %local322, align 4
  %3526 = load float, ptr %local479, align 4
  %3527 = call float @llvm.fma.f32(float %3524, float %3525, float %3526)
  store float %3527, ptr %local479, align 4
  %3528 = load float, ptr %local210, align 4
  %3529 = load float, ptr %local3, align 4
  %3530 = load float, ptr %local424, align 4
  %3531 = call float @llvm.fma.f32(float %3528, float %3529, float %3530)
  store float %3531, ptr %local424, align 4
  %3532 = load float, ptr %local210, align 4
  %3533 = load float, ptr %local316, align 4
  %3534 = load float, ptr %local432, align 4
  %3535 = call float @llvm.fma.f32(float %3532, float %3533, float %3534)
  store float %3535, ptr %local432, align 4
  %3536 = load float, ptr %local210, align 4
  %3537 = load float, ptr %local317, align 4
  %3538 = load float, ptr %local440, align 4
  %3539 = call float @llvm.fma.f32(float %3536, float %3537, float %3538)
  store float %3539, ptr %local440, align 4
  %3540 = load float, ptr %local210, align 4
  %3541 = load float, ptr %local318, align 4
  %3542 = load float, ptr %local448, align 4
  %3543 = call float @llvm.fma.f32(float %3540, float %3541, float %3542)
  store float %3543, ptr %local448, align 4
  %3544 = load float, ptr %local210, align 4
  %3545 = load float, ptr %local319, align 4
  %3546 = load float, ptr %local456, align 4
  %3547 = call float @llvm.fma.f32(float %3544, float %3545, float %3546)
  store float %3547, ptr %local456, align 4
  %3548 = load float, ptr %local210, align 4
  %3549 = load float, ptr %local320, align 4
  %3550 = load float, ptr %local464, align 4
  %3551 = call float @llvm.fma.f32(float %3548, float %3549, float %3550)
  store float %3551, ptr %local464, align 4
  %3552 = load float, ptr %local210, align 4
  %3553 = load float, ptr %local321, align 4
  %3554 = load float, ptr %local472, align 4
  %3555 = call float @llvm.fma.f32(float %3552, float %3553, float %3554)
  store float %3555, ptr %local472, align 4
  %3556 = load float, ptr %local210, align 4
  %3557 = load float, ptr %local322, align 4
  %3558 = load float, ptr %local480, align 4
  %3559 = call float @llvm.fma.f32(float %3556, float %3557, float %3558)
  store float %3559, ptr %local480, align 4
  %3560 = load float, ptr %local211, align 4
  %3561 = load float, ptr %local3, align 4
  %3562 = load float, ptr %local425, align 4
  %3563 = call float @llvm.fma.f32(float %3560, float %3561, float %3562)
  store float %3563, ptr %local425, align 4
  %3564 = load float, ptr %local211, align 4
  %3565 = load float, ptr %local316, align 4
  %3566 = load float, ptr %local433, align 4
  %3567 = call float @llvm.fma.f32(float %3564, float %3565, float %3566)
  store float %3567, ptr %local433, align 4
  %3568 = load float, ptr %local211, align 4
  %3569 = load float, ptr %local317, align 4
  %3570 = load float, ptr %local441, align 4
  %3571 = call float @llvm.fma.f32(float %3568, float %3569, float %3570)
  store float %3571, ptr %local441, align 4
  %3572 = load float, ptr %local211, align 4
  %3573 = load float, ptr %local318, align 4
  %3574 = load float, ptr %local449, align 4
  %3575 = call float @llvm.fma.f32(float %3572, float %3573, float %3574)
  store float %3575, ptr %local449, align 4
  %3576 = load float, ptr %local211, align 4
  %3577 = load float, ptr %local319, align 4
  %3578 = load float, ptr %local457, align 4
  %3579 = call float @llvm.fma.f32(float %3576, float %3577, float %3578)
  store float %3579, ptr %local457, align 4
  %3580 = load float, ptr %local211, align 4
  %3581 = load float, ptr %local320, align 4
  %3582 = load float, ptr %local465, align 4
  %3583 = call float @llvm.fma.f32(float %3580, float %3581, float %3582)
  store float %3583, ptr %local465, align 4
  %3584 = load float, ptr %local211, align 4
  %3585 = load float, ptr %local321, align 4
  %3586 = load float, ptr %local473, align 4
  %3587 = call float @llvm.fma.f32(float %3584, float %3585, float %3586)
  store float %3587, ptr %local473, align 4
  %3588 = load float, ptr %local211, align 4
  %3589 = load float, ptr %local322, align 4
  %3590 = load float, ptr %local481, align 4
  %3591 = call float @llvm.fma.f32(float %3588, float %3589, float %3590)
  store float %3591, ptr %local481, align 4
  %3592 = load float, ptr %local212, align 4
  %3593 = load float, ptr %local3, align 4
  %3594 = load float, ptr %local426, align 4
  %3595 = call float @llvm.fma.f32(float %3592, float %3593, float %3594)
  store float %3595, ptr %local426, align 4
  %3596 = load float, ptr %local212, align 4
  %3597 = load float, ptr %local316, align 4
  %3598 = load float, ptr %local434, align 4
  %3599 = call float @llvm.fma.f32(float %3596, float %3597, float %3598)
  store float %3599, ptr %local434, align 4
  %3600 = load float, ptr %local212, align 4
  %3601 = load float, ptr %local317, align 4
  %3602 = load float, ptr %local442, align 4
  %3603 = call float @llvm.fma.f32(float %3600, float %3601, float %3602)
  store float %3603, ptr %local442, align 4
  %3604 = load float, ptr %local212, align 4
  %3605 = load float, ptr %local318, align 4
  %3606 = load float, ptr %local450, align 4
  %3607 = call float @llvm.fma.f32(float %3604, float %3605, float %3606)
  store float %3607, ptr %local450, align 4
  %3608 = load float, ptr %local212, align 4
  %3609 = load float, ptr %local319, align 4
  %3610 = load float, ptr %local458, align 4
  %3611 = call float @llvm.fma.f32(float %3608, float %3609, float %3610)
  store float %3611, ptr %local458, align 4
  %3612 = load float, ptr %local212, align 4
  %3613 = load float, ptr %local320, align 4
  %3614 = load float, ptr %local466, align 4
  %3615 = call float @llvm.fma.f32(float %3612, float %3613, float %3614)
  store float %3615, ptr %local466, align 4
  %3616 = load float, ptr %local212, align 4
  %3617 = load float, ptr %local321, align 4
  %3618 = load float, ptr %local474, align 4
  %3619 = call float @llvm.fma.f32(float %3616, float %3617, float %3618)
  store float %3619, ptr %local474, align 4
  %3620 = load float, ptr %local212, align 4
  %3621 = load float, ptr %local322, align 4
  %3622 = load float, ptr %local482, align 4
  %3623 = call float @llvm.fma.f32(float %3620, float %3621, float %3622)
  store float %3623, ptr %local482, align 4
  %3624 = load float, ptr %local213, align 4
  %3625 = load float, ptr %local3, align 4
  %3626 = load float, ptr %local427, align 4
  %3627 = call float @llvm.fma.f32(float %3624, float %3625, float %3626)
  store float %3627, ptr %local427, align 4
  %3628 = load float, ptr %local213, align 4
  %3629 = load float, ptr %local316, align 4
  %3630 = load float, ptr %local435, align 4
  %3631 = call float @llvm.fma.f32(float %3628, float %3629, float %3630)
  store float %3631, ptr %local435, align 4
  %3632 = load float, ptr %local213, align 4
  %3633 = load float, ptr %local317, align 4
  %3634 = load float, ptr %local443, align 4
  %3635 = call float @llvm.fma.f32(float %3632, float %3633, float %3634)
  store float %3635, ptr %local443, align 4
  %3636 = load float, ptr %local213, align 4
  %3637 = load float, ptr %local318, align 4
  %3638 = load float, ptr %local451, align 4
  %3639 = call float @llvm.fma.f32(float %3636, float %3637, float %3638)
  store float %3639, ptr %local451, align 4
  %3640 = load float, ptr %local213, align 4
  %3641 = load float, ptr %local319, align 4
  %3642 = load float, ptr %local459, align 4
  %3643 = call float @llvm.fma.f32(float %3640, float %3641, float %3642)
  store float %3643, ptr %local459, align 4
  %3644 = load float, ptr %local213, align 4
  %3645 = load float, ptr %local320, align 4
  %3646 = load float, ptr %local467, align 4
  %3647 = call float @llvm.fma.f32(float %3644, float %3645, float %3646)
  store float %3647, ptr %local467, align 4
  %3648 = load float, ptr %local213, align 4
  %3649 = load float, ptr %local321, align 4
  %3650 = load float, ptr %local475, align 4
  %3651 = call float @llvm.fma.f32(float %3648, float %3649, float %3650)
  store float %3651, ptr %local475, align 4
  %3652 = load float, ptr %local213, align 4
  %3653 = load float, ptr %local322, align 4
  %3654 = load float, ptr %local483, align 4
  %3655 = call float @llvm.fma.f32(float %3652, float %3653, float %3654)
  store float %3655, ptr %local483, align 4
  %3656 = load float, ptr %local214, align 4
  %3657 = load float, ptr %local3, align 4
  %3658 = load float, ptr %local428, align 4
  %3659 = call float @llvm.fma.f32(float %3656, float %3657, float %3658)
  store float %3659, ptr %local428, align 4
  %3660 = load float, ptr %local214, align 4
  %3661 = load float, ptr %local316, align 4
  %3662 = load float, ptr %local436, align 4
  %3663 = call float @llvm.fma.f32(float %3660, float %3661, float %3662)
  store float %3663, ptr %local436, align 4
  %3664 = load float, ptr %local214, align 4
  %3665 = load float, ptr %local317, align 4
  %3666 = load float, ptr %local444, align 4
  %3667 = call float @llvm.fma.f32(float %3664, float %3665, float %3666)
  store float %3667, ptr %local444, align 4
  %3668 = load float, ptr %local214, align 4
  %3669 = load float, ptr %local318, align 4
  %3670 = load float, ptr %local452, align 4
  %3671 = call float @llvm.fma.f32(float %3668, float %3669, float %3670)
  store float %3671, ptr %local452, align 4
  %3672 = load float, ptr %local214, align 4
  %3673 = load float, ptr %local319, align 4
  %3674 = load float, ptr %local460, align 4
  %3675 = call float @llvm.fma.f32(float %3672, float %3673, float %3674)
  store float %3675, ptr %local460, align 4
  %3676 = load float, ptr %local214, align 4
  %3677 = load float, ptr %local320, align 4
  %3678 = load float, ptr %local468, align 4
  %3679 = call float @llvm.fma.f32(float %3676, float %3677, float %3678)
  store float %3679, ptr %local468, align 4
  %3680 = load float, ptr %local214, align 4
  %3681 = load float, ptr %local321, align 4
  %3682 = load float, ptr %local476, align 4
  %3683 = call float @llvm.fma.f32(float %3680, float %3681, float %3682)
  store float %3683, ptr %local476, align 4
  %3684 = load float, ptr %local214, align 4
  %3685 = load float, ptr %local322, align 4
  %3686 = load float, ptr %local484, align 4
  %3687 = call float @llvm.fma.f32(float %3684, float %3685, float %3686)
  store float %3687, ptr %local484, align 4
  %3688 = load float, ptr %local215, align 4
  %3689 = load float, ptr %local3, align 4
  %3690 = load float, ptr %local429, align 4
  %3691 = call float @llvm.fma.f32(float %3688, float %3689, float %3690)
  store float %3691, ptr %local429, align 4
  %3692 = load float, ptr %local215, align 4
  %3693 = load float, ptr %local316, align 4
  %3694 = load float, ptr %local437, align 4
  %3695 = call float @llvm.fma.f32(float %3692, float %3693, float %3694)
  store float %3695, ptr %local437, align 4
  %3696 = load float, ptr %local215, align 4
  %3697 = load float, ptr %local317, align 4
  %3698 = load float, ptr %local445, align 4
  %3699 = call float @llvm.fma.f32(float %3696, float %3697, float %3698)
  store float %3699, ptr %local445, align 4
  %3700 = load float, ptr %local215, align 4
  %3701 = load float, ptr %local318, align 4
  %3702 = load float, ptr %local453, align 4
  %3703 = call float @llvm.fma.f32(float %3700, float %3701, float %3702)
  store float %3703, ptr %local453, align 4
  %3704 = load float, ptr %local215, align 4
  %3705 = load float, ptr %local319, align 4
  %3706 = load float, ptr %local461, align 4
  %3707 = call float @llvm.fma.f32(float %3704, float %3705, float %3706)
  store float %3707, ptr %local461, align 4
  %3708 = load float, ptr %local215, align 4
  %3709 = load float, ptr %local320, align 4
  %3710 = load float, ptr %local469, align 4
  %3711 = call float @llvm.fma.f32(float %3708, float %3709, float %3710)
  store float %3711, ptr %local469, align 4
  %3712 = load float, ptr %local215, align 4
  %3713 = load float, ptr %local321, align 4
  %3714 = load float, ptr %local477, align 4
  %3715 = call float @llvm.fma.f32(float %3712, float %3713, float %3714)
  store float %3715, ptr %local477, align 4
  %3716 = load float, ptr %local215, align 4
  %3717 = load float, ptr %local322, align 4
  %3718 = load float, ptr %local485, align 4
  %3719 = call float @llvm.fma.f32(float %3716, float %3717, float %3718)
  store float %3719, ptr %local485, align 4
  %3720 = mul nsw i32 %212, 2112
  %3721 = add nsw i32 924, %3720
  %3722 = mul nsw i32 %10, 4
  %3723 = add nsw i32 %3721, %3722
  %3724 = add i32 %3720, %3722
  %3725 = mul nsw i32 %3723, 4
  %3726 = mul i32 %3724, 4
  %3727 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %3726
  %3728 = getelementptr i8, ptr addrspace(3) %3727, i64 3696
  %3729 = load <4 x float>, ptr addrspace(3) %3728, align 16
  %3730 = extractelement <4 x float> %3729, i32 0
  %3731 = extractelement <4 x float> %3729, i32 1
  %3732 = extractelement <4 x float> %3729, i32 2
  %3733 = extractelement <4 x float> %3729, i32 3
  %3734 = insertelement <4 x float> undef, float %3730, i32 0
  %3735 = insertelement <4 x float> %3734, float %3731, i32 1
  %3736 = insertelement <4 x float> %3735, float %3732, i32 2
  %3737 = insertelement <4 x float> %3736, float %3733, i32 3
  store float %3730, ptr %local2, align 4
  store float %3731, ptr %local29, align 4
  store float %3732, ptr %local210, align 4
  store float %3733, ptr %local211, align 4
  %3738 = mul nsw i32 %212, 2112
  %3739 = add nsw i32 924, %3738
  %3740 = add nsw i32 16, %10
  %3741 = mul nsw i32 %3740, 4
  %3742 = mul i32 %10, 4
  %3743 = add nsw i32 %3739, %3741
  %3744 = add i32 %3738, %3742
  %3745 = mul nsw i32 %3743, 4
  %3746 = mul i32 %3744, 4
  %3747 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %3746
  %3748 = getelementptr i8, ptr addrspace(3) %3747, i64 3952
  %3749 = load <4 x float>, ptr addrspace(3) %3748, align 16
  %3750 = extractelement <4 x float> %3749, i32 0
  %3751 = extractelement <4 x float> %3749, i32 1
  %3752 = extractelement <4 x float> %3749, i32 2
  %3753 = extractelement <4 x float> %3749, i32 3
  %3754 = insertelement <4 x float> undef, float %3750, i32 0
  %3755 = insertelement <4 x float> %3754, float %3751, i32 1
  %3756 = insertelement <4 x float> %3755, float %3752, i32 2
  %3757 = insertelement <4 x float> %3756, float %3753, i32 3
  store float %3750, ptr %local212, align 4
  store float %3751, ptr %local213, align 4
  store float %3752, ptr %local214, align 4
  store float %3753, ptr %local215, align 4
  %3758 = mul nsw i32 %212, 2048
  %3759 = add nsw i32 896, %3758
  %3760 = mul nsw i32 %9, 4
  %3761 = add nsw i32 %3759, %3760
  %3762 = add i32 %3758, %3760
  %3763 = mul nsw i32 %3761, 4
  %3764 = mul i32 %3762, 4
  %3765 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %3764
  %3766 = getelementptr i8, ptr addrspace(3) %3765, i64 3584
  %3767 = load <4 x float>, ptr addrspace(3) %3766, align 16
  %3768 = extractelement <4 x float> %3767, i32 0
  %3769 = extractelement <4 x float> %3767, i32 1
  %3770 = extractelement <4 x float> %3767, i32 2
  %3771 = extractelement <4 x float> %3767, i32 3
  %3772 = insertelement <4 x float> undef, float %3768, i32 0
  %3773 = insertelement <4 x float> %3772, float %3769, i32 1
  %3774 = insertelement <4 x float> %3773, float %3770, i32 2
  %3775 = insertelement <4 x float> %3774, float %3771, i32 3
  store float %3768, ptr %local3, align 4
  store float %3769, ptr %local316, align 4
  store float %3770, ptr %local317, align 4
  store float %3771, ptr %local318, align 4
  %3776 = mul nsw i32 %212, 2048
  %3777 = add nsw i32 896, %3776
  %3778 = add nsw i32 16, %9
  %3779 = mul nsw i32 %3778, 4
  %3780 = mul i32 %9, 4
  %3781 = add nsw i32 %3777, %3779
  %3782 = add i32 %3776, %3780
  %3783 = mul nsw i32 %3781, 4
  %3784 = mul i32 %3782, 4
  %3785 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %3784
  %3786 = getelementptr i8, ptr addrspace(3) %3785, i64 3840
  %3787 = load <4 x float>, ptr addrspace(3) %3786, align 16
  %3788 = extractelement <4 x float> %3787, i32 0
  %3789 = extractelement <4 x float> %3787, i32 1
  %3790 = extractelement <4 x float> %3787, i32 2
  %3791 = extractelement <4 x float> %3787, i32 3
  %3792 = insertelement <4 x float> undef, float %3788, i32 0
  %3793 = insertelement <4 x float> %3792, float %3789, i32 1
  %3794 = insertelement <4 x float> %3793, float %3790, i32 2
  %3795 = insertelement <4 x float> %3794, float %3791, i32 3
  store float %3788, ptr %local319, align 4
  store float %3789, ptr %local320, align 4
  store float %3790, ptr %local321, align 4
  store float %3791, ptr %local322, align 4
  %3796 = load float, ptr %local2, align 4
  %3797 = load float, ptr %local3, align 4
  %3798 = load float, ptr %local4, align 4
  %3799 = call float @llvm.fma.f32(float %3796, float %3797, float %3798)
  store float %3799, ptr %local4, align 4
  %3800 = load float, ptr %local2, align 4
  %3801 = load float, ptr %local316, align 4
  %3802 = load float, ptr %local430, align 4
  %3803 = call float @llvm.fma.f32(float %3800, float %3801, float %3802)
  store float %3803, ptr %local430, align 4
  %3804 = load float, ptr %local2, align 4
  %3805 = load float, ptr %local317, align 4
  %3806 = load float, ptr %local438, align 4
  %3807 = call float @llvm.fma.f32(float %3804, float %3805, float %3806)
  store float %3807, ptr %local438, align 4
  %3808 = load float, ptr %local2, align 4
  %3809 = load float, ptr %local318, align 4
  %3810 = load float, ptr %local446, align 4
  %3811 = call float @llvm.fma.f32(float %3808, float %3809, float %3810)
  store float %3811, ptr %local446, align 4
  %3812 = load float, ptr %local2, align 4
  %3813 = load float, ptr %local319, align 4
  %3814 = load float, ptr %local454, align 4
  %3815 = call float @llvm.fma.f32(float %3812, float %3813, float %3814)
  store float %3815, ptr %local454, align 4
  %3816 = load float, ptr %local2, align 4
  %3817 = load float, ptr %local320, align 4
  %3818 = load float, ptr %local462, align 4
  %3819 = call float @llvm.fma.f32(float %3816, float %3817, float %3818)
  store float %3819, ptr %local462, align 4
  %3820 = load float, ptr %local2, align 4
  %3821 = load float, ptr %local321, align 4
  %3822 = load float, ptr %local470, align 4
  %3823 = call float @llvm.fma.f32(float %3820, float %3821, float %3822)
  store float %3823, ptr %local470, align 4
  %3824 = load float, ptr %local2, align 4
  %3825 = load float, ptr %local322, align 4
  %3826 = load float, ptr %local478, align 4
  %3827 = call float @llvm.fma.f32(float %3824, float %3825, float %3826)
  store float %3827, ptr %local478, align 4
  %3828 = load float, ptr %local29, align 4
  %3829 = load float, ptr %local3, align 4
  %3830 = load float, ptr %local423, align 4
  %3831 = call float @llvm.fma.f32(float %3828, float %3829, float %3830)
  store float %3831, ptr %local423, align 4
  %3832 = load float, ptr %local29, align 4
  %3833 = load float, ptr %local316, align 4
  %3834 = load float, ptr %local431, align 4
  %3835 = call float @llvm.fma.f32(float %3832, float %3833, float %3834)
  store float %3835, ptr %local431, align 4
  %3836 = load float, ptr %local29, align 4
  %3837 = load float, ptr %local317, align 4
  %3838 = load float, ptr %local439, align 4
  %3839 = call float @llvm.fma.f32(float %3836, float %3837, float %3838)
  store float %3839, ptr %local439, align 4
  %3840 = load float, ptr %local29, align 4
  %3841 = load float, ptr %local318, align 4
  %3842 = load float, ptr %local447, align 4
  %3843 = call float @llvm.fma.f32(float %3840, float %3841, float %3842)
  store float %3843, ptr %local447, align 4
  %3844 = load float, ptr %local29, align 4
  %3845 = load float, ptr %local319, align 4
  %3846 = load float, ptr %local455, align 4
  %3847 = call float @llvm.fma.f32(float %3844, float %3845, float %3846)
  store float %3847, ptr %local455, align 4
  %3848 = load float, ptr %local29, align 4
  %3849 = load float, ptr %local320, align 4
  %3850 = load float, ptr %local463, align 4
  %3851 = call float @llvm.fma.f32(float %3848, float %3849, float %3850)
  store float %3851, ptr %local463, align 4
  %3852 = load float, ptr %local29, align 4
  %3853 = load float, ptr %local321, align 4
  %3854 = load float, ptr %local471, align 4
  %3855 = call float @llvm.fma.f32(float %3852, float %3853, float %3854)
  store float %3855, ptr %local471, align 4
  %3856 = load float, ptr %local29, align 4
  %3857 = load float, ptr %local322, align 4
  %3858 = load float, ptr %local479, align 4
  %3859 = call float @llvm.fma.f32(float %3856, float %3857, float %3858)
  store float %3859, ptr %local479, align 4
  %3860 = load float, ptr %local210, align 4
  %3861 = load float, ptr %local3, align 4
  %3862 = load float, ptr %local424, align 4
  %3863 = call float @llvm.fma.f32(float %3860, float %3861, float %3862)
  store float %3863, ptr %local424, align 4
  %3864 = load float, ptr %local210, align 4
  %3865 = load float, ptr %local316, align 4
  %3866 = load float, ptr %local432, align 4
  %3867 = call float @llvm.fma.f32(float %3864, float %3865, float %3866)
  store float %3867, ptr %local432, align 4
  %3868 = load float, ptr %local210, align 4
  %3869 = load float, ptr %local317, align 4
  %3870 = load float, ptr %local440, align 4
  %3871 = call float @llvm.fma.f32(float %3868, float %3869, float %3870)
  store float %3871, ptr %local440, align 4
  %3872 = load float, ptr %local210, align 4
  %3873 = load float, ptr %local318, align 4
  %3874 = load float, ptr %local448, align 4
  %3875 = call float @llvm.fma.f32(float %3872, float %3873, float %3874)
  store float %3875, ptr %local448, align 4
  %3876 = load float, ptr %local210, align 4
  %3877 = load float, ptr %local319, align 4
  %3878 = load float, ptr %local456, align 4
  %3879 = call float @llvm.fma.f32(float %3876, float %3877, float %3878)
  store float %3879, ptr %local456, align 4
  %3880 = load float, ptr %local210, align 4
  %3881 = load float, ptr %local320, align 4
  %3882 = load float, ptr %local464, align 4
  %3883 = call float @llvm.fma.f32(float %3880, float %3881, float %3882)
  store float %3883, ptr %local464, align 4
  %3884 = load float, ptr %local210, align 4
  %3885 = load float, ptr %local321, align 4
  %3886 = load float, ptr %local472, align 4
  %3887 = call float @llvm.fma.f32(float %3884, float %3885, float %3886)
  store float %3887, ptr %local472, align 4
  %3888 = load float, ptr %local210, align 4
  %3889 = load float, ptr %local322, align 4
  %3890 = load float, ptr %local480, align 4
  %3891 = call float @llvm.fma.f32(float %3888, float %3889, float %3890)
  store float %3891, ptr %local480, align 4
  %3892 = load float, ptr %local211, align 4
  %3893 = load float, ptr %local3, align 4
  %3894 = load float, ptr %local425, align 4
  %3895 = call float @llvm.fma.f32(float %3892, float %3893, float %3894)
  store float %3895, ptr %local425, align 4
  %3896 = load float, ptr %local211, align 4
  %3897 = load float, ptr %local316, align 4
  %3898 = load float, ptr %local433, align 4
  %3899 = call float @llvm.fma.f32(float %3896, float %3897, float %3898)
  store float %3899, ptr %local433, align 4
  %3900 = load float, ptr %local211, align 4
  %3901 = load float, ptr %local317, align 4
  %3902 = load float, ptr %local441, align 4
  %3903 = call float @llvm.fma.f32(float %3900, float %3901, float %3902)
  store float %3903, ptr %local441, align 4
  %3904 = load float, ptr %local211, align 4
  %3905 = load float, ptr %local318, align 4
  %3906 = load float, ptr %local449, align 4
  %3907 = call float @llvm.fma.f32(float %3904, float %3905, float %3906)
  store float %3907, ptr %local449, align 4
  %3908 = load float, ptr %local211, align 4
  %3909 = load float, ptr %local319, align 4
  %3910 = load float, ptr %local457, align 4
  %3911 = call float @llvm.fma.f32(float %3908, float %3909, float %3910)
  store float %3911, ptr %local457, align 4
  %3912 = load float, ptr %local211, align 4
  %3913 = load float, ptr %local320, align 4
  %3914 = load float, ptr %local465, align 4
  %3915 = call float @llvm.fma.f32(float %3912, float %3913, float %3914)
  store float %3915, ptr %local465, align 4
  %3916 = load float, ptr %local211, align 4
  %3917 = load float, ptr %local321, align 4
  %3918 = load float, ptr %local473, align 4
  %3919 = call float @llvm.fma.f32(float %3916, float %3917, float %3918)
  store float %3919, ptr %local473, align 4
  %3920 = load float, ptr %local211, align 4
  %3921 = load float, ptr %local322, align 4
  %3922 = load float, ptr %local481, align 4
  %3923 = call float @llvm.fma.f32(float %3920, float %3921, float %3922)
  store float %3923, ptr %local481, align 4
  %3924 = load float, ptr %local212, align 4
  %3925 = load float, ptr %local3, align 4
  %3926 = load float, ptr %local426, align 4
  %3927 = call float @llvm.fma.f32(float %3924, float %3925, float %3926)
  store float %3927, ptr %local426, align 4
  %3928 = load float, ptr %local212, align 4
  %3929 = load float, ptr %local316, align 4
  %3930 = load float, ptr %local434, align 4
  %3931 = call float @llvm.fma.f32(float %3928, float %3929, float %3930)
  store float %3931, ptr %local434, align 4
  %3932 = load float, ptr %local212, align 4
  %3933 = load float, ptr %local317, align 4
  %3934 = load float, ptr %local442, align 4
  %3935 = call float @llvm.fma.f32(float %3932, float %3933, float %3934)
  store float %3935, ptr %local442, align 4
  %3936 = load float, ptr %local212, align 4
  %3937 = load float, ptr %local318, align 4
  %3938 = load float, ptr %local450, align 4
  %3939 = call float @llvm.fma.f32(float %3936, float %3937, float %3938)
  store float %3939, ptr %local450, align 4
  %3940 = load float, ptr %local212, align 4
  %3941 = load float, ptr %local319, align 4
  %3942 = load float, ptr %local458, align 4
  %3943 = call float @llvm.fma.f32(float %3940, float %3941, float %3942)
  store float %3943, ptr %local458, align 4
  %3944 = load float, ptr %local212, align 4
  %3945 = load float, ptr %local320, align 4
  %3946 = load float, ptr %local466, align 4
  %3947 = call float @llvm.fma.f32(float %3944, float %3945, float %3946)
  store float %3947, ptr %local466, align 4
  %3948 = load float, ptr %local212, align 4
  %3949 = load float, ptr %local321, align 4
  %3950 = load float, ptr %local474, align 4
  %3951 = call float @llvm.fma.f32(float %3948, float %3949, float %3950)
  store float %3951, ptr %local474, align 4
  %3952 = load float, ptr %local212, align 4
  %3953 = load float, ptr %local322, align 4
  %3954 = load float, ptr %local482, align 4
  %3955 = call float @llvm.fma.f32(float %3952, float %3953, float %3954)
  store float %3955, ptr %local482, align 4
  %3956 = load float, ptr %local213, align 4
  %3957 = load float, ptr %local3, align 4
  %3958 = load float, ptr %local427, align 4
  %3959 = call float @llvm.fma.f32(float %3956, float %3957, float %3958)
  store float %3959, ptr %local427, align 4
  %3960 = load float, ptr %local213, align 4
  %3961 = load float, ptr %local316, align 4
  %3962 = load float, ptr %local435, align 4
  %3963 = call float @llvm.fma.f32(float %3960, float %3961, float %3962)
  store float %3963, ptr %local435, align 4
  %3964 = load float, ptr %local213, align 4
  %3965 = load float, ptr %local317, align 4
  %3966 = load float, ptr %local443, align 4
  %3967 = call float @llvm.fma.f32(float %3964, float %3965, float %3966)
  store float %3967, ptr %local443, align 4
  %3968 = load float, ptr %local213, align 4
  %3969 = load float, ptr %local318, align 4
  %3970 = load float, ptr %local451, align 4
  %3971 = call float @llvm.fma.f32(float %3968, float %3969, float %3970)
  store float %3971, ptr %local451, align 4
  %3972 = load float, ptr %local213, align 4
  %3973 = load float, ptr %local319, align 4
  %3974 = load float, ptr %local459, align 4
  %3975 = call float @llvm.fma.f32(float %3972, float %3973, float %3974)
  store float %3975, ptr %local459, align 4
  %3976 = load float, ptr %local213, align 4
  %3977 = load float, ptr %local320, align 4
  %3978 = load float, ptr %local467, align 4
  %3979 = call float @llvm.fma.f32(float %3976, float %3977, float %3978)
  store float %3979, ptr %local467, align 4
  %3980 = load float, ptr %local213, align 4
  %3981 = load float, ptr %local321, align 4
  %3982 = load float, ptr %local475, align 4
  %3983 = call float @llvm.fma.f32(float %3980, float %3981, float %3982)
  store float %3983, ptr %local475, align 4
  %3984 = load float, ptr %local213, align 4
  %3985 = load float, ptr %local322, align 4
  %3986 = load float, ptr %local483, align 4
  %3987 = call float @llvm.fma.f32(float %3984, float %3985, float %3986)
  store float %3987, ptr %local483, align 4
  %3988 = load float, ptr %local214, align 4
  %3989 = load float, ptr %local3, align 4
  %3990 = load float, ptr %local428, align 4
  %3991 = call float @llvm.fma.f32(float %3988, float %3989, float %3990)
  store float %3991, ptr %local428, align 4
  %3992 = load float, ptr %local214, align 4
  %3993 = load float, ptr %local316, align 4
  %3994 = load float, ptr %local436, align 4
  %3995 = call float @llvm.fma.f32(float %3992, float %3993, float %3994)
  store float %3995, ptr %local436, align 4
  %3996 = load float, ptr %local214, align 4
  %3997 = load float, ptr %local317, align 4
  %3998 = load float, ptr %local444, align 4
  %3999 = call float @llvm.fma.f32(float %3996, float %3997, float %3998)
  store float %3999, ptr %local444, align 4
  %4000 = load float, ptr %local214, align 4
  %4001 = load float, ptr %local318, align 4
  %4002 = load float, ptr %local452, align 4
  %4003 = call float @llvm.fma.f32(float %4000, float %4001, float %4002)
  store float %4003, ptr %local452, align 4
  %4004 = load float, ptr %local214, align 4
  %4005 = load float, ptr %local319, align 4
  %4006 = load float, ptr %local460, align 4
  %4007 = call float @llvm.fma.f32(float %4004, float %4005, float %4006)
  store float %4007, ptr %local460, align 4
  %4008 = load float, ptr %local214, align 4
  %4009 = load float, ptr %local320, align 4
  %4010 = load float, ptr %local468, align 4
  %4011 = call float @llvm.fma.f32(float %4008, float %4009, float %4010)
  store float %4011, ptr %local468, align 4
  %4012 = load float, ptr %local214, align 4
  %4013 = load float, ptr %local321, align 4
  %4014 = load float, ptr %local476, align 4
  %4015 = call float @llvm.fma.f32(float %4012, float %4013, float %4014)
  store float %4015, ptr %local476, align 4
  %4016 = load float, ptr %local214, align 4
  %4017 = load float, ptr %local322, align 4
  %4018 = load float, ptr %local484, align 4
  %4019 = call float @llvm.fma.f32(float %4016, float %4017, float %4018)
  store float %4019, ptr %local484, align 4
  %4020 = load float, ptr %local215, align 4
  %4021 = load float, ptr %local3, align 4
  %4022 = load float, ptr %local429, align 4
  %4023 = call float @llvm.fma.f32(float %4020, float %4021, float %4022)
  store float %4023, ptr %local429, align 4
  %4024 = load float, ptr %local215, align 4
  %4025 = load float, ptr %local316, align 4
  %4026 = load float, ptr %local437, align 4
  %4027 = call float @llvm.fma.f32(float %4024, float %4025, float %4026)
  store float %4027, ptr %local437, align 4
  %4028 = load float, ptr %local215, align 4
  %4029 = load float, ptr %local317, align 4
  %4030 = load float, ptr %local445, align 4
  %4031 = call float @llvm.fma.f32(float %4028, float %4029, float %4030)
  store float %4031, ptr %local445, align 4
  %4032 = load float, ptr %local215, align 4
  %4033 = load float, ptr %local318, align 4
  %4034 = load float, ptr %local453, align 4
  %4035 = call float @llvm.fma.f32(float %4032, float %4033, float %4034)
  store float %4035, ptr %local453, align 4
  %4036 = load float, ptr %local215, align 4
  %4037 = load float, ptr %local319, align 4
  %4038 = load float, ptr %local461, align 4
  %4039 = call float @llvm.fma.f32(float %4036, float %4037, float %4038)
  store float %4039, ptr %local461, align 4
  %4040 = load float, ptr %local215, align 4
  %4041 = load float, ptr %local320, align 4
  %4042 = load float, ptr %local469, align 4
  %4043 = call float @llvm.fma.f32(float %4040, float %4041, float %4042)
  store float %4043, ptr %local469, align 4
  %4044 = load float, ptr %local215, align 4
  %4045 = load float, ptr %local321, align 4
  %4046 = load float, ptr %local477, align 4
  %4047 = call float @llvm.fma.f32(float %4044, float %4045, float %4046)
  store float %4047, ptr %local477, align 4
  %4048 = load float, ptr %local215, align 4
  %4049 = load float, ptr %local322, align 4
  %4050 = load float, ptr %local485, align 4
  %4051 = call float @llvm.fma.f32(float %4048, float %4049, float %4050)
  store float %4051, ptr %local485, align 4
  %4052 = mul nsw i32 %212, 2112
  %4053 = add nsw i32 1056, %4052
  %4054 = mul nsw i32 %10, 4
  %4055 = add nsw i32 %4053, %4054
  %4056 = add i32 %4052, %4054
  %4057 = mul nsw i32 %4055, 4
  %4058 = mul i32 %4056, 4
  %4059 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %4058
  %4060 = getelementptr i8, ptr addrspace(3) %4059, i64 4224
  %4061 = load <4 x float>, ptr addrspace(3) %4060, align 16
  %4062 = extractelement <4 x float> %4061, i32 0
  %4063 = extractelement <4 x float> %4061, i32 1
  %4064 = extractelement <4 x float> %4061, i32 2
  %4065 = extractelement <4 x float> %4061, i32 3
  %4066 = insertelement <4 x float> undef, float %4062, i32 0
  %4067 = insertelement <4 x float> %4066, float %4063, i32 1
  %4068 = insertelement <4 x float> %4067, float %4064, i32 2
  %4069 = insertelement <4 x float> %4068, float %4065, i32 3
  store float %4062, ptr %local2, align 4
  store float %4063, ptr %local29, align 4
  store float %4064, ptr %local210, align 4
  store float %4065, ptr %local211, align 4
  %4070 = mul nsw i32 %212, 2112
  %4071 = add nsw i32 1056, %4070
  %4072 = add nsw i32 16, %10
  %4073 = mul nsw i32 %4072, 4
  %4074 = mul i32 %10, 4
  %4075 = add nsw i32 %4071, %4073
  %4076 = add i32 %4070, %4074
  %4077 = mul nsw i32 %4075, 4
  %4078 = mul i32 %4076, 4
  %4079 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %4078
  %4080 = getelementptr i8, ptr addrspace(3) %4079, i64 4480
  %4081 = load <4 x float>, ptr addrspace(3) %4080, align 16
  %4082 = extractelement <4 x float> %4081, i32 0
  %4083 = extractelement <4 x float> %4081, i32 1
  %4084 = extractelement <4 x float> %4081, i32 2
  %4085 = extractelement <4 x float> %4081, i32 3
  %4086 = insertelement <4 x float> undef, float %4082, i32 0
  %4087 = insertelement <4 x float> %4086, float %4083, i32 1
  %4088 = insertelement <4 x float> %4087, float %4084, i32 2
  %4089 = insertelement <4 x float> %4088, float %4085, i32 3
  store float %4082, ptr %local212, align 4
  store float %4083, ptr %local213, align 4
  store float %4084, ptr %local214, align 4
  store float %4085, ptr %local215, align 4
  %4090 = mul nsw i32 %212, 2048
  %4091 = add nsw i32 1024, %4090
  %4092 = mul nsw i32 %9, 4
  %4093 = add nsw i32 %4091, %4092
  %4094 = add i32 %4090, %4092
  %4095 = mul nsw i32 %4093, 4
  %4096 = mul i32 %4094, 4
  %4097 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %4096
  %4098 = getelementptr i8, ptr addrspace(3) %4097, i64 4096
  %4099 = load <4 x float>, ptr addrspace(3) %4098, align 16
  %4100 = extractelement <4 x float> %4099, i32 0
  %4101 = extractelement <4 x float> %4099, i32 1
  %4102 = extractelement <4 x float> %4099, i32 2
  %4103 = extractelement <4 x float> %4099, i32 3
  %4104 = insertelement <4 x float> undef, float %4100, i32 0
  %4105 = insertelement <4 x float> %4104, float %4101, i32 1
  %4106 = insertelement <4 x float> %4105, float %4102, i32 2
  %4107 = insertelement <4 x float> %4106, float %4103, i32 3
  store float %4100, ptr %local3, align 4
  store float %4101, ptr %local316, align 4
  store float %4102, ptr %local317, align 4
  store float %4103, ptr %local318, align 4
  %4108 = mul nsw i32 %212, 2048
  %4109 = add nsw i32 1024, %4108
  %4110 = add nsw i32 16, %9
  %4111 = mul nsw i32 %4110, 4
  %4112 = mul i32 %9, 4
  %4113 = add nsw i32 %4109, %4111
  %4114 = add i32 %4108, %4112
  %4115 = mul nsw i32 %4113, 4
  %4116 = mul i32 %4114, 4
  %4117 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %4116
  %4118 = getelementptr i8, ptr addrspace(3) %4117, i64 4352
  %4119 = load <4 x float>, ptr addrspace(3) %4118, align 16
  %4120 = extractelement <4 x float> %4119, i32 0
  %4121 = extractelement <4 x float> %4119, i32 1
  %4122 = extractelement <4 x float> %4119, i32 2
  %4123 = extractelement <4 x float> %4119, i32 3
  %4124 = insertelement <4 x float> undef, float %4120, i32 0
  %4125 = insertelement <4 x float> %4124, float %4121, i32 1
  %4126 = insertelement <4 x float> %4125, float %4122, i32 2
  %4127 = insertelement <4 x float> %4126, float %4123, i32 3
  store float %4120, ptr %local319, align 4
  store float %4121, ptr %local320, align 4
  store float %4122, ptr %local321, align 4
  store float %4123, ptr %local322, align 4
  %4128 = load float, ptr %local2, align 4
  %4129 = load float, ptr %local3, align 4
  %4130 = load float, ptr %local4, align 4
  %4131 = call float @llvm.fma.f32(float %4128, float %4129, float %4130)
  store float %4131, ptr %local4, align 4
  %4132 = load float, ptr %local2, align 4
  %4133 = load float, ptr %local316, align 4
  %4134 = load float, ptr %local430, align 4
  %4135 = call float @llvm.fma.f32(float %4132, float %4133, float %4134)
  store float %4135, ptr %local430, align 4
  %4136 = load float, ptr %local2, align 4
  %4137 = load float, ptr %local317, align 4
  %4138 = load float, ptr %local438, align 4
  %4139 = call float @llvm.fma.f32(float %4136, float %4137, float %4138)
  store float %4139, ptr %local438, align 4
  %4140 = load float, ptr %local2, align 4
  %4141 = load float, ptr %local318, align 4
  %4142 = load float, ptr %local446, align 4
  %4143 = call float @llvm.fma.f32(float %4140, float %4141, float %4142)
  store float %4143, ptr %local446, align 4
  %4144 = load float, ptr %local2, align 4
  %4145 = load float, ptr %local319, align 4
  %4146 = load float, ptr %local454, align 4
  %4147 = call float @llvm.fma.f32(float %4144, float %4145, float %4146)
  store float %4147, ptr %local454, align 4
  %4148 = load float, ptr %local2, align 4
  %4149 = load float, ptr %local320, align 4
  %4150 = load float, ptr %local462, align 4
  %4151 = call float @llvm.fma.f32(float %4148, float %4149, float %4150)
  store float %4151, ptr %local462, align 4
  %4152 = load float, ptr %local2, align 4
  %4153 = load float, ptr %local321, align 4
  %4154 = load float, ptr %local470, align 4
  %4155 = call float @llvm.fma.f32(float %4152, float %4153, float %4154)
  store float %4155, ptr %local470, align 4
  %4156 = load float, ptr %local2, align 4
  %4157 = load float, ptr %local322, align 4
  %4158 = load float, ptr %local478, align 4
  %4159 = call float @llvm.fma.f32(float %4156, float %4157, float %4158)
  store float %4159, ptr %local478, align 4
  %4160 = load float, ptr %local29, align 4
  %4161 = load float, ptr %local3, align 4
  %4162 = load float, ptr %local423, align 4
  %4163 = call float @llvm.fma.f32(float %4160, float %4161, float %4162)
  store float %4163, ptr %local423, align 4
  %4164 = load float, ptr %local29, align 4
  %4165 = load float, ptr %local316, align 4
  %4166 = load float, ptr %local431, align 4
  %4167 = call float @llvm.fma.f32(float %4164, float %4165, float %4166)
  store float %4167, ptr %local431, align 4
  %4168 = load float, ptr %local29, align 4
  %4169 = load float, ptr %local317, align 4
  %4170 = load float, ptr %local439, align 4
  %4171 = call float @llvm.fma.f32(float %4168, float %4169, float %4170)
  store float %4171, ptr %local439, align 4
  %4172 = load float, ptr %local29, align 4
  %4173 = load float, ptr %local318, align 4
  %4174 = load float, ptr %local447, align 4
  %4175 = call float @llvm.fma.f32(float %4172, float %4173, float %4174)
  store float %4175, ptr %local447, align 4
  %4176 = load float, ptr %local29, align 4
  %4177 = load float, ptr %local319, align 4
  %4178 = load float, ptr %local455, align 4
  %4179 = call float @llvm.fma.f32(float %4176, float %4177, float %4178)
  store float %4179, ptr %local455, align 4
  %4180 = load float, ptr %local29, align 4
  %4181 = load float, ptr %local320, align 4
  %4182 = load float, ptr %local463, align 4
  %4183 = call float @llvm.fma.f32(float %4180, float %4181, float %4182)
  store float %4183, ptr %local463, align 4
  %4184 = load float, ptr %local29, align 4
  %4185 = load float, ptr %local321, align 4
  %4186 = load float, ptr %local471, align 4
  %4187 = call float @llvm.fma.f32(float %4184, float %4185, float %4186)
  store float %4187, ptr %local471, align 4
  %4188 = load float, ptr %local29, align 4
  %4189 = load float, ptr %local322, align 4
  %4190 = load float, ptr %local479, align 4
  %4191 = call float @llvm.fma.f32(float %4188, float %4189, float %4190)
  store float %4191, ptr %local479, align 4
  %4192 = load float, ptr %local210, align 4
  %4193 = load float, ptr %local3, align 4
  %4194 = load float, ptr %local424, align 4
  %4195 = call float @llvm.fma.f32(float %4192, float %4193, float %4194)
  store float %4195, ptr %local424, align 4
  %4196 = load float, ptr %local210, align 4
  %4197 = load float, ptr %local316, align 4
  %4198 = load float, ptr %local432, align 4
  %4199 = call float @llvm.fma.f32(float %4196, float %4197, float %4198)
  store float %4199, ptr %local432, align 4
  %4200 = load float, ptr %local210, align 4
  %4201 = load float, ptr %local317, align 4
  %4202 = load float, ptr %local440, align 4
  %4203 = call float @llvm.fma.f32(float %4200, float %4201, float %4202)
  store float %4203, ptr %local440, align 4
  %4204 = load float, ptr %local210, align 4
  %4205 = load float, ptr %local318, align 4
  %4206 = load float, ptr %local448, align 4
  %4207 = call float @llvm.fma.f32(float %4204, float %4205, float %4206)
  store float %4207, ptr %local448, align 4
  %4208 = load float, ptr %local210, align 4
  %4209 = load float, ptr %local319, align 4
  %4210 = load float, ptr %local456, align 4
  %4211 = call float @llvm.fma.f32(float %4208, float %4209, float %4210)
  store float %4211, ptr %local456, align 4
  %4212 = load float, ptr %local210, align 4
  %4213 = load float, ptr %local320, align 4
  %4214 = load float, ptr %local464, align 4
  %4215 = call float @llvm.fma.f32(float %4212, float %4213, float %4214)
  store float %4215, ptr %local464, align 4
  %4216 = load float, ptr %local210, align 4
  %4217 = load float, ptr %local321, align 4
  %4218 = load float, ptr %local472, align 4
  %4219 = call float @llvm.fma.f32(float %4216, float %4217, float %4218)
  store float %4219, ptr %local472, align 4
  %4220 = load float, ptr %local210, align 4
  %4221 = load float, ptr %local322, align 4
  %4222 = load float, ptr %local480, align 4
  %4223 = call float @llvm.fma.f32(float %4220, float %4221, float %4222)
  store float %4223, ptr %local480, align 4
  %4224 = load float, ptr %local211, align 4
  %4225 = load float, ptr %local3, align 4
  %4226 = load float, ptr %local425, align 4
  %4227 = call float @llvm.fma.f32(float %4224, float %4225, float %4226)
  store float %4227, ptr %local425, align 4
  %4228 = load float, ptr %local211, align 4
  %4229 = load float, ptr %local316, align 4
  %4230 = load float, ptr %local433, align 4
  %4231 = call float @llvm.fma.f32(float %4228, float %4229, float %4230)
  store float %4231, ptr %local433, align 4
  %4232 = load float, ptr %local211, align 4
  %4233 = load float, ptr %local317, align 4
  %4234 = load float, ptr %local441, align 4
  %4235 = call float @llvm.fma.f32(float %4232, float %4233, float %4234)
  store float %4235, ptr %local441, align 4
  %4236 = load float, ptr %local211, align 4
  %4237 = load float, ptr %local318, align 4
  %4238 = load float, ptr %local449, align 4
  %4239 = call float @llvm.fma.f32(float %4236, float %4237, float %4238)
  store float %4239, ptr %local449, align 4
  %4240 = load float, ptr %local211, align 4
  %4241 = load float, ptr %local319, align 4
  %4242 = load float, ptr %local457, align 4
  %4243 = call float @llvm.fma.f32(float %4240, float %4241, float %4242)
  store float %4243, ptr %local457, align 4
  %4244 = load float, ptr %local211, align 4
  %4245 = load float, ptr %local320, align 4
  %4246 = load float, ptr %local465, align 4
  %4247 = call float @llvm.fma.f32(float %4244, float %4245, float %4246)
  store float %4247, ptr %local465, align 4
  %4248 = load float, ptr %local211, align 4
  %4249 = load float, ptr %local321, align 4
  %4250 = load float, ptr %local473, align 4
  %4251 = call float @llvm.fma.f32(float %4248, float %4249, float %4250)
  store float %4251, ptr %local473, align 4
  %4252 = load float, ptr %local211, align 4
  %4253 = load float, ptr %local322, align 4
  %4254 = load float, ptr %local481, align 4
  %4255 = call float @llvm.fma.f32(float %4252, float %4253, float %4254)
  store float %4255, ptr %local481, align 4
  %4256 = load float, ptr %local212, align 4
  %4257 = load float, ptr %local3, align 4
  %4258 = load float, ptr %local426, align 4
  %4259 = call float @llvm.fma.f32(float %4256, float %4257, float %4258)
  store float %4259, ptr %local426, align 4
  %4260 = load float, ptr %local212, align 4
  %4261 = load float, ptr %local316, align 4
  %4262 = load float, ptr %local434, align 4
  %4263 = call float @llvm.fma.f32(float %4260, float %4261, float %4262)
  store float %4263, ptr %local434, align 4
  %4264 = load float, ptr %local212, align 4
  %4265 = load float, ptr %local317, align 4
  %4266 = load float, ptr %local442, align 4
  %4267 = call float @llvm.fma.f32(float %4264, float %4265, float %4266)
  store float %4267, ptr %local442, align 4
  %4268 = load float, ptr %local212, align 4
  %4269 = load float, ptr %local318, align 4
  %4270 = load float, ptr %local450, align 4
  %4271 = call float @llvm.fma.f32(float %4268, float %4269, float %4270)
  store float %4271, ptr %local450, align 4
  %4272 = load float, ptr %local212, align 4
  %4273 = load float, ptr %local319, align 4
  %4274 = load float, ptr %local458, align 4
  %4275 = call float @llvm.fma.f32(float %4272, float %4273, float %4274)
  store float %4275, ptr %local458, align 4
  %4276 = load float, ptr %local212, align 4
  %4277 = load float, ptr %local320, align 4
  %4278 = load float, ptr %local466, align 4
  %4279 = call float @llvm.fma.f32(float %4276, float %4277, float %4278)
  store float %4279, ptr %local466, align 4
  %4280 = load float, ptr %local212, align 4
  %4281 = load float, ptr %local321, align 4
  %4282 = load float, ptr %local474, align 4
  %4283 = call float @llvm.fma.f32(float %4280, float %4281, float %4282)
  store float %4283, ptr %local474, align 4
  %4284 = load float, ptr %local212, align 4
  %4285 = load float, ptr %local322, align 4
  %4286 = load float, ptr %local482, align 4
  %4287 = call float @llvm.fma.f32(float %4284, float %4285, float %4286)
  store float %4287, ptr %local482, align 4
  %4288 = load float, ptr %local213, align 4
  %4289 = load float, ptr %local3, align 4
  %4290 = load float, ptr %local427, align 4
  %4291 = call float @llvm.fma.f32(float %4288, float %4289, float %4290)
  store float %4291, ptr %local427, align 4
  %4292 = load float, ptr %local213, align 4
  %4293 = load float, ptr %local316, align 4
  %4294 = load float, ptr %local435, align 4
  %4295 = call float @llvm.fma.f32(float %4292, float %4293, float %4294)
  store float %4295, ptr %local435, align 4
  %4296 = load float, ptr %local213, align 4
  %4297 = load float, ptr %local317, align 4
  %4298 = load float, ptr %local443, align 4
  %4299 = call float @llvm.fma.f32(float %4296, float %4297, float %4298)
  store float %4299, ptr %local443, align 4
  %4300 = load float, ptr %local213, align 4
  %4301 = load float, ptr %local318, align 4
  %4302 = load float, ptr %local451, align 4
  %4303 = call float @llvm.fma.f32(float %4300, float %4301, float %4302)
  store float %4303, ptr %local451, align 4
  %4304 = load float, ptr %local213, align 4
  %4305 = load float, ptr %local319, align 4
  %4306 = load float, ptr %local459, align 4
  %4307 = call float @llvm.fma.f32(float %4304, float %4305, float %4306)
  store float %4307, ptr %local459, align 4
  %4308 = load float, ptr %local213, align 4
  %4309 = load float, ptr %local320, align 4
  %4310 = load float, ptr %local467, align 4
  %4311 = call float @llvm.fma.f32(float %4308, float %4309, float %4310)
  store float %4311, ptr %local467, align 4
  %4312 = load float, ptr %local213, align 4
  %4313 = load float, ptr %local321, align 4
  %4314 = load float, ptr %local475, align 4
  %4315 = call float @llvm.fma.f32(float %4312, float %4313, float %4314)
  store float %4315, ptr %local475, align 4
  %4316 = load float, ptr %local213, align 4
  %4317 = load float, ptr %local322, align 4
  %4318 = load float, ptr %local483, align 4
  %4319 = call float @llvm.fma.f32(float %4316, float %4317, float %4318)
  store float %4319, ptr %local483, align 4
  %4320 = load float, ptr %local214, align 4
  %4321 = load float, ptr %local3, align 4
  %4322 = load float, ptr %local428, align 4
  %4323 = call float @llvm.fma.f32(float %4320, float %4321, float %4322)
  store float %4323, ptr %local428, align 4
  %4324 = load float, ptr %local214, align 4
  %4325 = load float, ptr %local316, align 4
  %4326 = load float, ptr %local436, align 4
  %4327 = call float @llvm.fma.f32(float %4324, float %4325, float %4326)
  store float %4327, ptr %local436, align 4
  %4328 = load float, ptr %local214, align 4
  %4329 = load float, ptr %local317, align 4
  %4330 = load float, ptr %local444, align 4
  %4331 = call float @llvm.fma.f32(float %4328, float %4329, float %4330)
  store float %4331, ptr %local444, align 4
  %4332 = load float, ptr %local214, align 4
  %4333 = load float, ptr %local318, align 4
  %4334 = load float, ptr %local452, align 4
  %4335 = call float @llvm.fma.f32(float %4332, float %4333, float %4334)
  store float %4335, ptr %local452, align 4
  %4336 = load float, ptr %local214, align 4
  %4337 = load float, ptr %local319, align 4
  %4338 = load float, ptr %local460, align 4
  %4339 = call float @llvm.fma.f32(float %4336, float %4337, float %4338)
  store float %4339, ptr %local460, align 4
  %4340 = load float, ptr %local214, align 4
  %4341 = load float, ptr %local320, align 4
  %4342 = load float, ptr %local468, align 4
  %4343 = call float @llvm.fma.f32(float %4340, float %4341, float %4342)
  store float %4343, ptr %local468, align 4
  %4344 = load float, ptr %local214, align 4
  %4345 = load float, ptr %local321, align 4
  %4346 = load float, ptr %local476, align 4
  %4347 = call float @llvm.fma.f32(float %4344, float %4345, float %4346)
  store float %4347, ptr %local476, align 4
  %4348 = load float, ptr %local214, align 4
  %4349 = load float, ptr %local322, align 4
  %4350 = load float, ptr %local484, align 4
  %4351 = call float @llvm.fma.f32(float %4348, float %4349, float %4350)
  store float %4351, ptr %local484, align 4
  %4352 = load float, ptr %local215, align 4
  %4353 = load float, ptr %local3, align 4
  %4354 = load float, ptr %local429, align 4
  %4355 = call float @llvm.fma.f32(float %4352, float %4353, float %4354)
  store float %4355, ptr %local429, align 4
  %4356 = load float, ptr %local215, align 4
  %4357 = load float, ptr %local316, align 4
  %4358 = load float, ptr %local437, align 4
  %4359 = call float @llvm.fma.f32(float %4356, float %4357, float %4358)
  store float %4359, ptr %local437, align 4
  %4360 = load float, ptr %local215, align 4
  %4361 = load float, ptr %local317, align 4
  %4362 = load float, ptr %local445, align 4
  %4363 = call float @llvm.fma.f32(float %4360, float %4361, float %4362)
  store float %4363, ptr %local445, align 4
  %4364 = load float, ptr %local215, align 4
  %4365 = load float, ptr %local318, align 4
  %4366 = load float, ptr %local453, align 4
  %4367 = call float @llvm.fma.f32(float %4364, float %4365, float %4366)
  store float %4367, ptr %local453, align 4
  %4368 = load float, ptr %local215, align 4
  %4369 = load float, ptr %local319, align 4
  %4370 = load float, ptr %local461, align 4
  %4371 = call float @llvm.fma.f32(float %4368, float %4369, float %4370)
  store float %4371, ptr %local461, align 4
  %4372 = load float, ptr %local215, align 4
  %4373 = load float, ptr %local320, align 4
  %4374 = load float, ptr %local469, align 4
  %4375 = call float @llvm.fma.f32(float %4372, float %4373, float %4374)
  store float %4375, ptr %local469, align 4
  %4376 = load float, ptr %local215, align 4
  %4377 = load float, ptr %local321, align 4
  %4378 = load float, ptr %local477, align 4
  %4379 = call float @llvm.fma.f32(float %4376, float %4377, float %4378)
  store float %4379, ptr %local477, align 4
  %4380 = load float, ptr %local215, align 4
  %4381 = load float, ptr %local322, align 4
  %4382 = load float, ptr %local485, align 4
  %4383 = call float @llvm.fma.f32(float %4380, float %4381, float %4382)
  store float %4383, ptr %local485, align 4
  %4384 = mul nsw i32 %212, 2112
  %4385 = add nsw i32 1188, %4384
  %4386 = mul nsw i32 %10, 4
  %4387 = add nsw i32 %4385, %4386
  %4388 = add i32 %4384, %4386
  %4389 = mul nsw i32 %4387, 4
  %4390 = mul i32 %4388, 4
  %4391 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %4390
  %4392 = getelementptr i8, ptr addrspace(3) %4391, i64 4752
  %4393 = load <4 x float>, ptr addrspace(3) %4392, align 16
  %4394 = extractelement <4 x float> %4393, i32 0
  %4395 = extractelement <4 x float> %4393, i32 1
  %4396 = extractelement <4 x float> %4393, i32 2
  %4397 = extractelement <4 x float> %4393, i32 3
  %4398 = insertelement <4 x float> undef, float %4394, i32 0
  %4399 = insertelement <4 x float> %4398, float %4395, i32 1
  %4400 = insertelement <4 x float> %4399, float %4396, i32 2
  %4401 = insertelement <4 x float> %4400, float %4397, i32 3
  store float %4394, ptr %local2, align 4
  store float %4395, ptr %local29, align 4
  store float %4396, ptr %local210, align 4
  store float %4397, ptr %local211, align 4
  %4402 = mul nsw i32 %212, 2112
  %4403 = add nsw i32 1188, %4402
  %4404 = add nsw i32 16, %10
  %4405 = mul nsw i32 %4404, 4
  %4406 = mul i32 %10, 4
  %4407 = add nsw i32 %4403, %4405
  %4408 = add i32 %4402, %4406
  %4409 = mul nsw i32 %4407, 4
  %4410 = mul i32 %4408, 4
  %4411 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %4410
  %4412 = getelementptr i8, ptr addrspace(3) %4411, i64 5008
  %4413 = load <4 x float>, ptr addrspace(3) %4412, align 16
  %4414 = extractelement <4 x float> %4413, i32 0
  %4415 = extractelement <4 x float> %4413, i32 1
  %4416 = extractelement <4 x float> %4413, i32 2
  %4417 = extractelement <4 x float> %4413, i32 3
  %4418 = insertelement <4 x float> undef, float %4414, i32 0
  %4419 = insertelement <4 x float> %4418, float %4415, i32 1
  %4420 = insertelement <4 x float> %4419, float %4416, i32 2
  %4421 = insertelement <4 x float> %4420, float %4417, i32 3
  store float %4414, ptr %local212, align 4
  store float %4415, ptr %local213, align 4
  store float %4416, ptr %local214, align 4
  store float %4417, ptr %local215, align 4
  %4422 = mul nsw i32 %212, 2048
  %4423 = add nsw i32 1152, %4422
  %4424 = mul nsw i32 %9, 4
  %4425 = add nsw i32 %4423, %4424
  %4426 = add i32 %4422, %4424
  %4427 = mul nsw i32 %4425, 4
  %4428 = mul i32 %4426, 4
  %4429 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %4428
  %4430 = getelementptr i8, ptr addrspace(3) %4429, i64 4608
  %4431 = load <4 x float>, ptr addrspace(3) %4430, align 16
  %4432 = extractelement <4 x float> %4431, i32 0
  %4433 = extractelement <4 x float> %4431, i32 1
  %4434 = extractelement <4 x float> %4431, i32 2
  %4435 = extractelement <4 x float> %4431, i32 3
  %4436 = insertelement <4 x float> undef, float %4432, i32 0
  %4437 = insertelement <4 x float> %4436, float %4433, i32 1
  %4438 = insertelement <4 x float> %4437, float %4434, i32 2
  %4439 = insertelement <4 x float> %4438, float %4435, i32 3
  store float %4432, ptr %local3, align 4
  store float %4433, ptr %local316, align 4
  store float %4434, ptr %local317, align 4
  store float %4435, ptr %local318, align 4
  %4440 = mul nsw i32 %212, 2048
  %4441 = add nsw i32 1152, %4440
  %4442 = add nsw i32 16, %9
  %4443 = mul nsw i32 %4442, 4
  %4444 = mul i32 %9, 4
  %4445 = add nsw i32 %4441, %4443
  %4446 = add i32 %4440, %4444
  %4447 = mul nsw i32 %4445, 4
  %4448 = mul i32 %4446, 4
  %4449 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %4448
  %4450 = getelementptr i8, ptr addrspace(3) %4449, i64 4864
  %4451 = load <4 x float>, ptr addrspace(3) %4450, align 16
  %4452 = extractelement <4 x float> %4451, i32 0
  %4453 = extractelement <4 x float> %4451, i32 1
  %4454 = extractelement <4 x float> %4451, i32 2
  %4455 = extractelement <4 x float> %4451, i32 3
  %4456 = insertelement <4 x float> undef, float %4452, i32 0
  %4457 = insertelement <4 x float> %4456, float %4453, i32 1
  %4458 = insertelement <4 x float> %4457, float %4454, i32 2
  %4459 = insertelement <4 x float> %4458, float %4455, i32 3
  store float %4452, ptr %local319, align 4
  store float %4453, ptr %local320, align 4
  store float %4454, ptr %local321, align 4
  store float %4455, ptr %local322, align 4
  %4460 = load float, ptr %local2, align 4
  %4461 = load float, ptr %local3, align 4
  %4462 = load float, ptr %local4, align 4
  %4463 = call float @llvm.fma.f32(float %4460, float %4461, float %4462)
  store float %4463, ptr %local4, align 4
  %4464 = load float, ptr %local2, align 4
  %4465 = load float, ptr %local316, align 4
  %4466 = load float, ptr %local430, align 4
  %4467 = call float @llvm.fma.f32(float %4464, float %4465, float %4466)
  store float %4467, ptr %local430, align 4
  %4468 = load float, ptr %local2, align 4
  %4469 = load float, ptr %local317, align 4
  %4470 = load float, ptr %local438, align 4
  %4471 = call float @llvm.fma.f32(float %4468, float %4469, float %4470)
  store float %4471, ptr %local438, align 4
  %4472 = load float, ptr %local2, align 4
  %4473 = load float, ptr %local318, align 4
  %4474 = load float, ptr %local446, align 4
  %4475 = call float @llvm.fma.f32(float %4472, float %4473, float %4474)
  store float %4475, ptr %local446, align 4
  %4476 = load float, ptr %local2, align 4
  %4477 = load float, ptr %local319, align 4
  %4478 = load float, ptr %local454, align 4
  %4479 = call float @llvm.fma.f32(float %4476, float %4477, float %4478)
  store float %4479, ptr %local454, align 4
  %4480 = load float, ptr %local2, align 4
  %4481 = load float, ptr %local320, align 4
  %4482 = load float, ptr %local462, align 4
  %4483 = call float @llvm.fma.f32(float %4480, float %4481, float %4482)
  store float %4483, ptr %local462, align 4
  %4484 = load float, ptr %local2, align 4
  %4485 = load float, ptr %local321, align 4
  %4486 = load float, ptr %local470, align 4
  %4487 = call float @llvm.fma.f32(float %4484, float %4485, float %4486)
  store float %4487, ptr %local470, align 4
  %4488 = load float, ptr %local2, align 4
  %4489 = load float, ptr %local322, align 4
  %4490 = load float, ptr %local478, align 4
  %4491 = call float @llvm.fma.f32(float %4488, float %4489, float %4490)
  store float %4491, ptr %local478, align 4
  %4492 = load float, ptr %local29, align 4
  %4493 = load float, ptr %local3, align 4
  %4494 = load float, ptr %local423, align 4
  %4495 = call float @llvm.fma.f32(float %4492, float %4493, float %4494)
  store float %4495, ptr %local423, align 4
  %4496 = load float, ptr %local29, align 4
  %4497 = load float, ptr %local316, align 4
  %4498 = load float, ptr %local431, align 4
  %4499 = call float @llvm.fma.f32(float %4496, float %4497, float %4498)
  store float %4499, ptr %local431, align 4
  %4500 = load float, ptr %local29, align 4
  %4501 = load float, ptr %local317, align 4
  %4502 = load float, ptr %local439, align 4
  %4503 = call float @llvm.fma.f32(float %4500, float %4501, float %4502)
  store float %4503, ptr %local439, align 4
  %4504 = load float, ptr %local29, align 4
  %4505 = load float, ptr %local318, align 4
  %4506 = load float, ptr %local447, align 4
  %4507 = call float @llvm.fma.f32(float %4504, float %4505, float %4506)
  store float %4507, ptr %local447, align 4
  %4508 = load float, ptr %local29, align 4
  %4509 = load float, ptr %local319, align 4
  %4510 = load float, ptr %local455, align 4
  %4511 = call float @llvm.fma.f32(float %4508, float %4509, float %4510)
  store float %4511, ptr %local455, align 4
  %4512 = load float, ptr %local29, align 4
  %4513 = load float, ptr %local320, align 4
  %4514 = load float, ptr %local463, align 4
  %4515 = call float @llvm.fma.f32(float %4512, float %4513, float %4514)
  store float %4515, ptr %local463, align 4
  %4516 = load float, ptr %local29, align 4
  %4517 = load float, ptr %local321, align 4
  %4518 = load float, ptr %local471, align 4
  %4519 = call float @llvm.fma.f32(float %4516, float %4517, float %4518)
  store float %4519, ptr %local471, align 4
  %4520 = load float, ptr %local29, align 4
  %4521 = load float, ptr %local322, align 4
  %4522 = load float, ptr %local479, align 4
  %4523 = call float @llvm.fma.f32(float %4520, float %4521, float %4522)
  store float %4523, ptr %local479, align 4
  %4524 = load float, ptr %local210, align 4
  %4525 = load float, ptr %local3, align 4
  %4526 = load float, ptr %local424, align 4
  %4527 = call float @llvm.fma.f32(float %4524, float %4525, float %4526)
  store float %4527, ptr %local424, align 4
  %4528 = load float, ptr %local210, align 4
  %4529 = load float, ptr %local316, align 4
  %4530 = load float, ptr %local432, align 4
  %4531 = call float @llvm.fma.f32(float %4528, float %4529, float %4530)
  store float %4531, ptr %local432, align 4
  %4532 = load float, ptr %local210, align 4
  %4533 = load float, ptr %local317, align 4
  %4534 = load float, ptr %local440, align 4
  %4535 = call float @llvm.fma.f32(float %4532, float %4533, float %4534)
  store float %4535, ptr %local440, align 4
  %4536 = load float, ptr %local210, align 4
  %4537 = load float, ptr %local318, align 4
  %4538 = load float, ptr %local448, align 4
  %4539 = call float @llvm.fma.f32(float %4536, float %4537, float %4538)
  store float %4539, ptr %local448, align 4
  %4540 = load float, ptr %local210, align 4
  %4541 = load float, ptr %local319, align 4
  %4542 = load float, ptr %local456, align 4
  %4543 = call float @llvm.fma.f32(float %4540, float %4541, float %4542)
  store float %4543, ptr %local456, align 4
  %4544 = load float, ptr %local210, align 4
  %4545 = load float, ptr %local320, align 4
  %4546 = load float, ptr %local464, align 4
  %4547 = call float @llvm.fma.f32(float %4544, float %4545, float %4546)
  store float %4547, ptr %local464, align 4
  %4548 = load float, ptr %local210, align 4
  %4549 = load float, ptr %local321, align 4
  %4550 = load float, ptr %local472, align 4
  %4551 = call float @llvm.fma.f32(float %4548, float %4549, float %4550)
  store float %4551, ptr %local472, align 4
  %4552 = load float, ptr %local210, align 4
  %4553 = load float, ptr %local322, align 4
  %4554 = load float, ptr %local480, align 4
  %4555 = call float @llvm.fma.f32(float %4552, float %4553, float %4554)
  store float %4555, ptr %local480, align 4
  %4556 = load float, ptr %local211, align 4
  %4557 = load float, ptr %local3, align 4
  %4558 = load float, ptr %local425, align 4
  %4559 = call float @llvm.fma.f32(float %4556, float %4557, float %4558)
  store float %4559, ptr %local425, align 4
  %4560 = load float, ptr %local211, align 4
  %4561 = load float, ptr %local316, align 4
  %4562 = load float, ptr %local433, align 4
  %4563 = call float @llvm.fma.f32(float %4560, float %4561, float %4562)
  store float %4563, ptr %local433, align 4
  %4564 = load float, ptr %local211, align 4
  %4565 = load float, ptr %local317, align 4
  %4566 = load float, ptr %local441, align 4
  %4567 = call float @llvm.fma.f32(float %4564, float %4565, float %4566)
  store float %4567, ptr %local441, align 4
  %4568 = load float, ptr %local211, align 4
  %4569 = load float, ptr %local318, align 4
  %4570 = load float, ptr %local449, align 4
  %4571 = call float @llvm.fma.f32(float %4568, float %4569, float %4570)
  store float %4571, ptr %local449, align 4
  %4572 = load float, ptr %local211, align 4
  %4573 = load float, ptr %local319, align 4
  %4574 = load float, ptr %local457, align 4
  %4575 = call float @llvm.fma.f32(float %4572, float %4573, float %4574)
  store float %4575, ptr %local457, align 4
  %4576 = load float, ptr %local211, align 4
  %4577 = load float, ptr %local320, align 4
  %4578 = load float, ptr %local465, align 4
  %4579 = call float @llvm.fma.f32(float %4576, float %4577, float %4578)
  store float %4579, ptr %local465, align 4
  %4580 = load float, ptr %local211, align 4
  %4581 = load float, ptr %local321, align 4
  %4582 = load float, ptr %local473, align 4
  %4583 = call float @llvm.fma.f32(float %4580, float %4581, float %4582)
  store float %4583, ptr %local473, align 4
  %4584 = load float, ptr %local211, align 4
  %4585 = load float, ptr %local322, align 4
  %4586 = load float, ptr %local481, align 4
  %4587 = call float @llvm.fma.f32(float %4584, float %4585, float %4586)
  store float %4587, ptr %local481, align 4
  %4588 = load float, ptr %local212, align 4
  %4589 = load float, ptr %local3, align 4
  %4590 = load float, ptr %local426, align 4
  %4591 = call float @llvm.fma.f32(float %4588, float %4589, float %4590)
  store float %4591, ptr %local426, align 4
  %4592 = load float, ptr %local212, align 4
  %4593 = load float, ptr %local316, align 4
  %4594 = load float, ptr %local434, align 4
  %4595 = call float @llvm.fma.f32(float %4592, float %4593, float %4594)
  store float %4595, ptr %local434, align 4
  %4596 = load float, ptr %local212, align 4
  %4597 = load float, ptr %local317, align 4
  %4598 = load float, ptr %local442, align 4
  %4599 = call float @llvm.fma.f32(float %4596, float %4597, float %4598)
  store float %4599, ptr %local442, align 4
  %4600 = load float, ptr %local212, align 4
  %4601 = load float, ptr %local318, align 4
  %4602 = load float, ptr %local450, align 4
  %4603 = call float @llvm.fma.f32(float %4600, float %4601, float %4602)
  store float %4603, ptr %local450, align 4
  %4604 = load float, ptr %local212, align 4
  %4605 = load float, ptr %local319, align 4
  %4606 = load float, ptr %local458, align 4
  %4607 = call float @llvm.fma.f32(float %4604, float %4605, float %4606)
  store float %4607, ptr %local458, align 4
  %4608 = load float, ptr %local212, align 4
  %4609 = load float, ptr %local320, align 4
  %4610 = load float, ptr %local466, align 4
  %4611 = call float @llvm.fma.f32(float %4608, float %4609, float %4610)
  store float %4611, ptr %local466, align 4
  %4612 = load float, ptr %local212, align 4
  %4613 = load float, ptr %local321, align 4
  %4614 = load float, ptr %local474, align 4
  %4615 = call float @llvm.fma.f32(float %4612, float %4613, float %4614)
  store float %4615, ptr %local474, align 4
  %4616 = load float, ptr %local212, align 4
  %4617 = load float, ptr %local322, align 4
  %4618 = load float, ptr %local482, align 4
  %4619 = call float @llvm.fma.f32(float %4616, float %4617, float %4618)
  store float %4619, ptr %local482, align 4
  %4620 = load float, ptr %local213, align 4
  %4621 = load float, ptr %local3, align 4
  %4622 = load float, ptr %local427, align 4
  %4623 = call float @llvm.fma.f32(float %4620, float %4621, float %4622)
  store float %4623, ptr %local427, align 4
  %4624 = load float, ptr %local213, align 4
  %4625 = load float, ptr %local316, align 4
  %4626 = load float, ptr %local435, align 4
  %4627 = call float @llvm.fma.f32(float %4624, float %4625, float %4626)
  store float %4627, ptr %local435, align 4
  %4628 = load float, ptr %local213, align 4
  %4629 = load float, ptr %local317, align 4
  %4630 = load float, ptr %local443, align 4
  %4631 = call float @llvm.fma.f32(float %4628, float %4629, float %4630)
  store float %4631, ptr %local443, align 4
  %4632 = load float, ptr %local213, align 4
  %4633 = load float, ptr %local318, align 4
  %4634 = load float, ptr %local451, align 4
  %4635 = call float @llvm.fma.f32(float %4632, float %4633, float %4634)
  store float %4635, ptr %local451, align 4
  %4636 = load float, ptr %local213, align 4
  %4637 = load float, ptr %local319, align 4
  %4638 = load float, ptr %local459, align 4
  %4639 = call float @llvm.fma.f32(float %4636, float %4637, float %4638)
  store float %4639, ptr %local459, align 4
  %4640 = load float, ptr %local213, align 4
  %4641 = load float, ptr %local320, align 4
  %4642 = load float, ptr %local467, align 4
  %4643 = call float @llvm.fma.f32(float %4640, float %4641, float %4642)
  store float %4643, ptr %local467, align 4
  %4644 = load float, ptr %local213, align 4
  %4645 = load float, ptr %local321, align 4
  %4646 = load float, ptr %local475, align 4
  %4647 = call float @llvm.fma.f32(float %4644, float %4645, float %4646)
  store float %4647, ptr %local475, align 4
  %4648 = load float, ptr %local213, align 4
  %4649 = load float, ptr %local322, align 4
  %4650 = load float, ptr %local483, align 4
  %4651 = call float @llvm.fma.f32(float %4648, float %4649, float %4650)
  store float %4651, ptr %local483, align 4
  %4652 = load float, ptr %local214, align 4
  %4653 = load float, ptr %local3, align 4
  %4654 = load float, ptr %local428, align 4
  %4655 = call float @llvm.fma.f32(float %4652, float %4653, float %4654)
  store float %4655, ptr %local428, align 4
  %4656 = load float, ptr %local214, align 4
  %4657 = load float, ptr %local316, align 4
  %4658 = load float, ptr %local436, align 4
  %4659 = call float @llvm.fma.f32(float %4656, float %4657, float %4658)
  store float %4659, ptr %local436, align 4
  %4660 = load float, ptr %local214, align 4
  %4661 = load float, ptr %local317, align 4
  %4662 = load float, ptr %local444, align 4
  %4663 = call float @llvm.fma.f32(float %4660, float %4661, float %4662)
  store float %4663, ptr %local444, align 4
  %4664 = load float, ptr %local214, align 4
  %4665 = load float, ptr %local318, align 4
  %4666 = load float, ptr %local452, align 4
  %4667 = call float @llvm.fma.f32(float %4664, float %4665, float %4666)
  store float %4667, ptr %local452, align 4
  %4668 = load float, ptr %local214, align 4
  %4669 = load float, ptr %local319, align 4
  %4670 = load float, ptr %local460, align 4
  %4671 = call float @llvm.fma.f32(float %4668, float %4669, float %4670)
  store float %4671, ptr %local460, align 4
  %4672 = load float, ptr %local214, align 4
  %4673 = load float, ptr %local320, align 4
  %4674 = load float, ptr %local468, align 4
  %4675 = call float @llvm.fma.f32(float %4672, float %4673, float %4674)
  store float %4675, ptr %local468, align 4
  %4676 = load float, ptr %local214, align 4
  %4677 = load float, ptr %local321, align 4
  %4678 = load float, ptr %local476, align 4
  %4679 = call float @llvm.fma.f32(float %4676, float %4677, float %4678)
  store float %4679, ptr %local476, align 4
  %4680 = load float, ptr %local214, align 4
  %4681 = load float, ptr %local322, align 4
  %4682 = load float, ptr %local484, align 4
  %4683 = call float @llvm.fma.f32(float %4680, float %4681, float %4682)
  store float %4683, ptr %local484, align 4
  %4684 = load float, ptr %local215, align 4
  %4685 = load float, ptr %local3, align 4
  %4686 = load float, ptr %local429, align 4
  %4687 = call float @llvm.fma.f32(float %4684, float %4685, float %4686)
  store float %4687, ptr %local429, align 4
  %4688 = load float, ptr %local215, align 4
  %4689 = load float, ptr %local316, align 4
  %4690 = load float, ptr %local437, align 4
  %4691 = call float @llvm.fma.f32(float %4688, float %4689, float %4690)
  store float %4691, ptr %local437, align 4
  %4692 = load float, ptr %local215, align 4
  %4693 = load float, ptr %local317, align 4
  %4694 = load float, ptr %local445, align 4
  %4695 = call float @llvm.fma.f32(float %4692, float %4693, float %4694)
  store float %4695, ptr %local445, align 4
  %4696 = load float, ptr %local215, align 4
  %4697 = load float, ptr %local318, align 4
  %4698 = load float, ptr %local453, align 4
  %4699 = call float @llvm.fma.f32(float %4696, float %4697, float %4698)
  store float %4699, ptr %local453, align 4
  %4700 = load float, ptr %local215, align 4
  %4701 = load float, ptr %local319, align 4
  %4702 = load float, ptr %local461, align 4
  %4703 = call float @llvm.fma.f32(float %4700, float %4701, float %4702)
  store float %4703, ptr %local461, align 4
  %4704 = load float, ptr %local215, align 4
  %4705 = load float, ptr %local320, align 4
  %4706 = load float, ptr %local469, align 4
  %4707 = call float @llvm.fma.f32(float %4704, float %4705, float %4706)
  store float %4707, ptr %local469, align 4
  %4708 = load float, ptr %local215, align 4
  %4709 = load float, ptr %local321, align 4
  %4710 = load float, ptr %local477, align 4
  %4711 = call float @llvm.fma.f32(float %4708, float %4709, float %4710)
  store float %4711, ptr %local477, align 4
  %4712 = load float, ptr %local215, align 4
  %4713 = load float, ptr %local322, align 4
  %4714 = load float, ptr %local485, align 4
  %4715 = call float @llvm.fma.f32(float %4712, float %4713, float %4714)
  store float %4715, ptr %local485, align 4
  %4716 = mul nsw i32 %212, 2112
  %4717 = add nsw i32 1320, %4716
  %4718 = mul nsw i32 %10, 4
  %4719 = add nsw i32 %4717, %4718
  %4720 = add i32 %4716, %4718
  %4721 = mul nsw i32 %4719, 4
  %4722 = mul i32 %4720, 4
  %4723 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %4722
  %4724 = getelementptr i8, ptr addrspace(3) %4723, i64 5280
  %4725 = load <4 x float>, ptr addrspace(3) %4724, align 16
  %4726 = extractelement <4 x float> %4725, i32 0
  %4727 = extractelement <4 x float> %4725, i32 1
  %4728 = extractelement <4 x float> %4725, i32 2
  %4729 = extractelement <4 x float> %4725, i32 3
  %4730 = insertelement <4 x float> undef, float %4726, i32 0
  %4731 = insertelement <4 x float> %4730, float %4727, i32 1
  %4732 = insertelement <4 x float> %4731, float %4728, i32 2
  %4733 = insertelement <4 x float> %4732, float %4729, i32 3
  store float %4726, ptr %local2, align 4
  store float %4727, ptr %local29, align 4
  store float %4728, ptr %local210, align 4
  store float %4729, ptr %local211, align 4
  %4734 = mul nsw i32 %212, 2112
  %4735 = add nsw i32 1320, %4734
  %4736 = add nsw i32 16, %10
  %4737 = mul nsw i32 %4736, 4
  %4738 = mul i32 %10, 4
  %4739 = add nsw i32 %4735, %4737
  %4740 = add i32 %4734, %4738
  %4741 = mul nsw i32 %4739, 4
  %4742 = mul i32 %4740, 4
  %4743 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %4742
  %4744 = getelementptr i8, ptr addrspace(3) %4743, i64 5536
  %4745 = load <4 x float>, ptr addrspace(3) %4744, align 16
  %4746 = extractelement <4 x float> %4745, i32 0
  %4747 = extractelement <4 x float> %4745, i32 1
  %4748 = extractelement <4 x float> %4745, i32 2
  %4749 = extractelement <4 x float> %4745, i32 3
  %4750 = insertelement <4 x float> undef, float %4746, i32 0
  %4751 = insertelement <4 x float> %4750, float %4747, i32 1
  %4752 = insertelement <4 x float> %4751, float %4748, i32 2
  %4753 = insertelement <4 x float> %4752, float %4749, i32 3
  store float %4746, ptr %local212, align 4
  store float %4747, ptr %local213, align 4
  store float %4748, ptr %local214, align 4
  store float %4749, ptr %local215, align 4
  %4754 = mul nsw i32 %212, 2048
  %4755 = add nsw i32 1280, %4754
  %4756 = mul nsw i32 %9, 4
  %4757 = add nsw i32 %4755, %4756
  %4758 = add i32 %4754, %4756
  %4759 = mul nsw i32 %4757, 4
  %4760 = mul i32 %4758, 4
  %4761 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %4760
  %4762 = getelementptr i8, ptr addrspace(3) %4761, i64 5120
  %4763 = load <4 x float>, ptr addrspace(3) %4762, align 16
  %4764 = extractelement <4 x float> %4763, i32 0
  %4765 = extractelement <4 x float> %4763, i32 1
  %4766 = extractelement <4 x float> %4763, i32 2
  %4767 = extractelement <4 x float> %4763, i32 3
  %4768 = insertelement <4 x float> undef, float %4764, i32 0
  %4769 = insertelement <4 x float> %4768, float %4765, i32 1
  %4770 = insertelement <4 x float> %4769, float %4766, i32 2
  %4771 = insertelement <4 x float> %4770, float %4767, i32 3
  store float %4764, ptr %local3, align 4
  store float %4765, ptr %local316, align 4
  store float %4766, ptr %local317, align 4
  store float %4767, ptr %local318, align 4
  %4772 = mul nsw i32 %212, 2048
  %4773 = add nsw i32 1280, %4772
  %4774 = add nsw i32 16, %9
  %4775 = mul nsw i32 %4774, 4
  %4776 = mul i32 %9, 4
  %4777 = add nsw i32 %4773, %4775
  %4778 = add i32 %4772, %4776
  %4779 = mul nsw i32 %4777, 4
  %4780 = mul i32 %4778, 4
  %4781 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %4780
  %4782 = getelementptr i8, ptr addrspace(3) %4781, i64 5376
  %4783 = load <4 x float>, ptr addrspace(3) %4782, align 16
  %4784 = extractelement <4 x float> %4783, i32 0
  %4785 = extractelement <4 x float> %4783, i32 1
  %4786 = extractelement <4 x float> %4783, i32 2
  %4787 = extractelement <4 x float> %4783, i32 3
  %4788 = insertelement <4 x float> undef, float %4784, i32 0
  %4789 = insertelement <4 x float> %4788, float %4785, i32 1
  %4790 = insertelement <4 x float> %4789, float %4786, i32 2
  %4791 = insertelement <4 x float> %4790, float %4787, i32 3
  store float %4784, ptr %local319, align 4
  store float %4785, ptr %local320, align 4
  store float %4786, ptr %local321, align 4
  store float %4787, ptr %local322, align 4
  %4792 = load float, ptr %local2, align 4
  %4793 = load float, ptr %local3, align 4
  %4794 = load float, ptr %local4, align 4
  %4795 = call float @llvm.fma.f32(float %4792, float %4793, float %4794)
  store float %4795, ptr %local4, align 4
  %4796 = load float, ptr %local2, align 4
  %4797 = load float, ptr %local316, align 4
  %4798 = load float, ptr %local430, align 4
  %4799 = call float @llvm.fma.f32(float %4796, float %4797, float %4798)
  store float %4799, ptr %local430, align 4
  %4800 = load float, ptr %local2, align 4
  %4801 = load float, ptr %local317, align 4
  %4802 = load float, ptr %local438, align 4
  %4803 = call float @llvm.fma.f32(float %4800, float %4801, float %4802)
  store float %4803, ptr %local438, align 4
  %4804 = load float, ptr %local2, align 4
  %4805 = load float, ptr %local318, align 4
  %4806 = load float, ptr %local446, align 4
  %4807 = call float @llvm.fma.f32(float %4804, float %4805, float %4806)
  store float %4807, ptr %local446, align 4
  %4808 = load float, ptr %local2, align 4
  %4809 = load float, ptr %local319, align 4
  %4810 = load float, ptr %local454, align 4
  %4811 = call float @llvm.fma.f32(float %4808, float %4809, float %4810)
  store float %4811, ptr %local454, align 4
  %4812 = load float, ptr %local2, align 4
  %4813 = load float, ptr %local320, align 4
  %4814 = load float, ptr %local462, align 4
  %4815 = call float @llvm.fma.f32(float %4812, float %4813, float %4814)
  store float %4815, ptr %local462, align 4
  %4816 = load float, ptr %local2, align 4
  %4817 = load float, ptr %local321, align 4
  %4818 = load float, ptr %local470, align 4
  %4819 = call float @llvm.fma.f32(float %4816, float %4817, float %4818)
  store float %4819, ptr %local470, align 4
  %4820 = load float, ptr %local2, align 4
  %4821 = load float, ptr %local322, align 4
  %4822 = load float, ptr %local478, align 4
  %4823 = call float @llvm.fma.f32(float %4820, float %4821, float %4822)
  store float %4823, ptr %local478, align 4
  %4824 = load float, ptr %local29, align 4
  %4825 = load float, ptr %local3, align 4
  %4826 = load float, ptr %local423, align 4
  %4827 = call float @llvm.fma.f32(float %4824, float %4825, float %4826)
  store float %4827, ptr %local423, align 4
  %4828 = load float, ptr %local29, align 4
  %4829 = load float, ptr %local316, align 4
  %4830 = load float, ptr %local431, align 4
  %4831 = call float @llvm.fma.f32(float %4828, float %4829, float %4830)
  store float %4831, ptr %local431, align 4
  %4832 = load float, ptr %local29, align 4
  %4833 = load float, ptr %local317, align 4
  %4834 = load float, ptr %local439, align 4
  %4835 = call float @llvm.fma.f32(float %4832, float %4833, float %4834)
  store float %4835, ptr %local439, align 4
  %4836 = load float, ptr %local29, align 4
  %4837 = load float, ptr %local318, align 4
  %4838 = load float, ptr %local447, align 4
  %4839 = call float @llvm.fma.f32(float %4836, float %4837, float %4838)
  store float %4839, ptr %local447, align 4
  %4840 = load float, ptr %local29, align 4
  %4841 = load float, ptr %local319, align 4
  %4842 = load float, ptr %local455, align 4
  %4843 = call float @llvm.fma.f32(float %4840, float %4841, float %4842)
  store float %4843, ptr %local455, align 4
  %4844 = load float, ptr %local29, align 4
  %4845 = load float, ptr %local320, align 4
  %4846 = load float, ptr %local463, align 4
  %4847 = call float @llvm.fma.f32(float %4844, float %4845, float %4846)
  store float %4847, ptr %local463, align 4
  %4848 = load float, ptr %local29, align 4
  %4849 = load float, ptr %local321, align 4
  %4850 = load float, ptr %local471, align 4
  %4851 = call float @llvm.fma.f32(float %4848, float %4849, float %4850)
  store float %4851, ptr %local471, align 4
  %4852 = load float, ptr %local29, align 4
  %4853 = load float, ptr %local322, align 4
  %4854 = load float, ptr %local479, align 4
  %4855 = call float @llvm.fma.f32(float %4852, float %4853, float %4854)
  store float %4855, ptr %local479, align 4
  %4856 = load float, ptr %local210, align 4
  %4857 = load float, ptr %local3, align 4
  %4858 = load float, ptr %local424, align 4
  %4859 = call float @llvm.fma.f32(float %4856, float %4857, float %4858)
  store float %4859, ptr %local424, align 4
  %4860 = load float, ptr %local210, align 4
  %4861 = load float, ptr %local316, align 4
  %4862 = load float, ptr %local432, align 4
  %4863 = call float @llvm.fma.f32(float %4860, float %4861, float %4862)
  store float %4863, ptr %local432, align 4
  %4864 = load float, ptr %local210, align 4
  %4865 = load float, ptr %local317, align 4
  %4866 = load float, ptr %local440, align 4
  %4867 = call float @llvm.fma.f32(float %4864, float %4865, float %4866)
  store float %4867, ptr %local440, align 4
  %4868 = load float, ptr %local210, align 4
  %4869 = load float, ptr %local318, align 4
  %4870 = load float, ptr %local448, align 4
  %4871 = call float @llvm.fma.f32(float %4868, float %4869, float %4870)
  store float %4871, ptr %local448, align 4
  %4872 = load float, ptr %local210, align 4
  %4873 = load float, ptr %local319, align 4
  %4874 = load float, ptr %local456, align 4
  %4875 = call float @llvm.fma.f32(float %4872, float %4873, float %4874)
  store float %4875, ptr %local456, align 4
  %4876 = load float, ptr %local210, align 4
  %4877 = load float, ptr %local320, align 4
  %4878 = load float, ptr %local464, align 4
  %4879 = call float @llvm.fma.f32(float %4876, float %4877, float %4878)
  store float %4879, ptr %local464, align 4
  %4880 = load float, ptr %local210, align 4
  %4881 = load float, ptr %local321, align 4
  %4882 = load float, ptr %local472, align 4
  %4883 = call float @llvm.fma.f32(float %4880, float %4881, float %4882)
  store float %4883, ptr %local472, align 4
  %4884 = load float, ptr %local210, align 4
  %4885 = load float, ptr %local322, align 4
  %4886 = load float, ptr %local480, align 4
  %4887 = call float @llvm.fma.f32(float %4884, float %4885, float %4886)
  store float %4887, ptr %local480, align 4
  %4888 = load float, ptr %local211, align 4
  %4889 = load float, ptr %local3, align 4
  %4890 = load float, ptr %local425, align 4
  %4891 = call float @llvm.fma.f32(float %4888, float %4889, float %4890)
  store float %4891, ptr %local425, align 4
  %4892 = load float, ptr %local211, align 4
  %4893 = load float, ptr %local316, align 4
  %4894 = load float, ptr %local433, align 4
  %4895 = call float @llvm.fma.f32(float %4892, float %4893, float %4894)
  store float %4895, ptr %local433, align 4
  %4896 = load float, ptr %local211, align 4
  %4897 = load float, ptr %local317, align 4
  %4898 = load float, ptr %local441, align 4
  %4899 = call float @llvm.fma.f32(float %4896, float %4897, float %4898)
  store float %4899, ptr %local441, align 4
  %4900 = load float, ptr %local211, align 4
  %4901 = load float, ptr %local318, align 4
  %4902 = load float, ptr %local449, align 4
  %4903 = call float @llvm.fma.f32(float %4900, float %4901, float %4902)
  store float %4903, ptr %local449, align 4
  %4904 = load float, ptr %local211, align 4
  %4905 = load float, ptr %local319, align 4
  %4906 = load float, ptr %local457, align 4
  %4907 = call float @llvm.fma.f32(float %4904, float %4905, float %4906)
  store float %4907, ptr %local457, align 4
  %4908 = load float, ptr %local211, align 4
  %4909 = load float, ptr %local320, align 4
  %4910 = load float, ptr %local465, align 4
  %4911 = call float @llvm.fma.f32(float %4908, float %4909, float %4910)
  store float %4911, ptr %local465, align 4
  %4912 = load float, ptr %local211, align 4
  %4913 = load float, ptr %local321, align 4
  %4914 = load float, ptr %local473, align 4
  %4915 = call float @llvm.fma.f32(float %4912, float %4913, float %4914)
  store float %4915, ptr %local473, align 4
  %4916 = load float, ptr %local211, align 4
  %4917 = load float, ptr %local322, align 4
  %4918 = load float, ptr %local481, align 4
  %4919 = call float @llvm.fma.f32(float %4916, float %4917, float %4918)
  store float %4919, ptr %local481, align 4
  %4920 = load float, ptr %local212, align 4
  %4921 = load float, ptr %local3, align 4
  %4922 = load float, ptr %local426, align 4
  %4923 = call float @llvm.fma.f32(float %4920, float %4921, float %4922)
  store float %4923, ptr %local426, align 4
  %4924 = load float, ptr %local212, align 4
  %4925 = load float, ptr %local316, align 4
  %4926 = load float, ptr %local434, align 4
  %4927 = call float @llvm.fma.f32(float %4924, float %4925, float %4926)
  store float %4927, ptr %local434, align 4
  %4928 = load float, ptr %local212, align 4
  %4929 = load float, ptr %local317, align 4
  %4930 = load float, ptr %local442, align 4
  %4931 = call float @llvm.fma.f32(float %4928, float %4929, float %4930)
  store float %4931, ptr %local442, align 4
  %4932 = load float, ptr %local212, align 4
  %4933 = load float, ptr %local318, align 4
  %4934 = load float, ptr %local450, align 4
  %4935 = call float @llvm.fma.f32(float %4932, float %4933, float %4934)
  store float %4935, ptr %local450, align 4
  %4936 = load float, ptr %local212, align 4
  %4937 = load float, ptr %local319, align 4
  %4938 = load float, ptr %local458, align 4
  %4939 = call float @llvm.fma.f32(float %4936, float %4937, float %4938)
  store float %4939, ptr %local458, align 4
  %4940 = load float, ptr %local212, align 4
  %4941 = load float, ptr %local320, align 4
  %4942 = load float, ptr %local466, align 4
  %4943 = call float @llvm.fma.f32(float %4940, float %4941, float %4942)
  store float %4943, ptr %local466, align 4
  %4944 = load float, ptr %local212, align 4
  %4945 = load float, ptr %local321, align 4
  %4946 = load float, ptr %local474, align 4
  %4947 = call float @llvm.fma.f32(float %4944, float %4945, float %4946)
  store float %4947, ptr %local474, align 4
  %4948 = load float, ptr %local212, align 4
  %4949 = load float, ptr %local322, align 4
  %4950 = load float, ptr %local482, align 4
  %4951 = call float @llvm.fma.f32(float %4948, float %4949, float %4950)
  store float %4951, ptr %local482, align 4
  %4952 = load float, ptr %local213, align 4
  %4953 = load float, ptr %local3, align 4
  %4954 = load float, ptr %local427, align 4
  %4955 = call float @llvm.fma.f32(float %4952, float %4953, float %4954)
  store float %4955, ptr %local427, align 4
  %4956 = load float, ptr %local213, align 4
  %4957 = load float, ptr %local316, align 4
  %4958 = load float, ptr %local435, align 4
  %4959 = call float @llvm.fma.f32(float %4956, float %4957, float %4958)
  store float %4959, ptr %local435, align 4
  %4960 = load float, ptr %local213, align 4
  %4961 = load float, ptr %local317, align 4
  %4962 = load float, ptr %local443, align 4
  %4963 = call float @llvm.fma.f32(float %4960, float %4961, float %4962)
  store float %4963, ptr %local443, align 4
  %4964 = load float, ptr %local213, align 4
  %4965 = load float, ptr %local318, align 4
  %4966 = load float, ptr %local451, align 4
  %4967 = call float @llvm.fma.f32(float %4964, float %4965, float %4966)
  store float %4967, ptr %local451, align 4
  %4968 = load float, ptr %local213, align 4
  %4969 = load float, ptr %local319, align 4
  %4970 = load float, ptr %local459, align 4
  %4971 = call float @llvm.fma.f32(float %4968, float %4969, float %4970)
  store float %4971, ptr %local459, align 4
  %4972 = load float, ptr %local213, align 4
  %4973 = load float, ptr %local320, align 4
  %4974 = load float, ptr %local467, align 4
  %4975 = call float @llvm.fma.f32(float %4972, float %4973, float %4974)
  store float %4975, ptr %local467, align 4
  %4976 = load float, ptr %local213, align 4
  %4977 = load float, ptr %local321, align 4
  %4978 = load float, ptr %local475, align 4
  %4979 = call float @llvm.fma.f32(float %4976, float %4977, float %4978)
  store float %4979, ptr %local475, align 4
  %4980 = load float, ptr %local213, align 4
  %4981 = load float, ptr %local322, align 4
  %4982 = load float, ptr %local483, align 4
  %4983 = call float @llvm.fma.f32(float %4980, float %4981, float %4982)
  store float %4983, ptr %local483, align 4
  %4984 = load float, ptr %local214, align 4
  %4985 = load float, ptr %local3, align 4
  %4986 = load float, ptr %local428, align 4
  %4987 = call float @llvm.fma.f32(float %4984, float %4985, float %4986)
  store float %4987, ptr %local428, align 4
  %4988 = load float, ptr %local214, align 4
  %4989 = load float, ptr %local316, align 4
  %4990 = load float, ptr %local436, align 4
  %4991 = call float @llvm.fma.f32(float %4988, float %4989, float %4990)
  store float %4991, ptr %local436, align 4
  %4992 = load float, ptr %local214, align 4
  %4993 = load float, ptr %local317, align 4
  %4994 = load float, ptr %local444, align 4
  %4995 = call float @llvm.fma.f32(float %4992, float %4993, float %4994)
  store float %4995, ptr %local444, align 4
  %4996 = load float, ptr %local214, align 4
  %4997 = load float, ptr %local318, align 4
  %4998 = load float, ptr %local452, align 4
  %4999 = call float @llvm.fma.f32(float %4996, float %4997, float %4998)
  store float %4999, ptr %local452, align 4
  %5000 = load float, ptr %local214, align 4
  %5001 = load float, ptr %local319, align 4
  %5002 = load float, ptr %local460, align 4
  %5003 = call float @llvm.fma.f32(float %5000, float %5001, float %5002)
  store float %5003, ptr %local460, align 4
  %5004 = load float, ptr %local214, align 4
  %5005 = load float, ptr %local320, align 4
  %5006 = load float, ptr %local468, align 4
  %5007 = call float @llvm.fma.f32(float %5004, float %5005, float %5006)
  store float %5007, ptr %local468, align 4
  %5008 = load float, ptr %local214, align 4
  %5009 = load float, ptr %local321, align 4
  %5010 = load float, ptr %local476, align 4
  %5011 = call float @llvm.fma.f32(float %5008, float %5009, float %5010)
  store float %5011, ptr %local476, align 4
  %5012 = load float, ptr %local214, align 4
  %5013 = load float, ptr %local322, align 4
  %5014 = load float, ptr %local484, align 4
  %5015 = call float @llvm.fma.f32(float %5012, float %5013, float %5014)
  store float %5015, ptr %local484, align 4
  %5016 = load float, ptr %local215, align 4
  %5017 = load float, ptr %local3, align 4
  %5018 = load float, ptr %local429, align 4
  %5019 = call float @llvm.fma.f32(float %5016, float %5017, float %5018)
  store float %5019, ptr %local429, align 4
  %5020 = load float, ptr %local215, align 4
  %5021 = load float, ptr %local316, align 4
  %5022 = load float, ptr %local437, align 4
  %5023 = call float @llvm.fma.f32(float %5020, float %5021, float %5022)
  store float %5023, ptr %local437, align 4
  %5024 = load float, ptr %local215, align 4
  %5025 = load float, ptr %local317, align 4
  %5026 = load float, ptr %local445, align 4
  %5027 = call float @llvm.fma.f32(float %5024, float %5025, float %5026)
  store float %5027, ptr %local445, align 4
  %5028 = load float, ptr %local215, align 4
  %5029 = load float, ptr %local318, align 4
  %5030 = load float, ptr %local453, align 4
  %5031 = call float @llvm.fma.f32(float %5028, float %5029, float %5030)
  store float %5031, ptr %local453, align 4
  %5032 = load float, ptr %local215, align 4
  %5033 = load float, ptr %local319, align 4
  %5034 = load float, ptr %local461, align 4
  %5035 = call float @llvm.fma.f32(float %5032, float %5033, float %5034)
  store float %5035, ptr %local461, align 4
  %5036 = load float, ptr %local215, align 4
  %5037 = load float, ptr %local320, align 4
  %5038 = load float, ptr %local469, align 4
  %5039 = call float @llvm.fma.f32(float %5036, float %5037, float %5038)
  store float %5039, ptr %local469, align 4
  %5040 = load float, ptr %local215, align 4
  %5041 = load float, ptr %local321, align 4
  %5042 = load float, ptr %local477, align 4
  %5043 = call float @llvm.fma.f32(float %5040, float %5041, float %5042)
  store float %5043, ptr %local477, align 4
  %5044 = load float, ptr %local215, align 4
  %5045 = load float, ptr %local322, align 4
  %5046 = load float, ptr %local485, align 4
  %5047 = call float @llvm.fma.f32(float %5044, float %5045, float %5046)
  store float %5047, ptr %local485, align 4
  %5048 = mul nsw i32 %212, 2112
  %5049 = add nsw i32 1452, %5048
  %5050 = mul nsw i32 %10, 4
  %5051 = add nsw i32 %5049, %5050
  %5052 = add i32 %5048, %5050
  %5053 = mul nsw i32 %5051, 4
  %5054 = mul i32 %5052, 4
  %5055 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %5054
  %5056 = getelementptr i8, ptr addrspace(3) %5055, i64 5808
  %5057 = load <4 x float>, ptr addrspace(3) %5056, align 16
  %5058 = extractelement <4 x float> %5057, i32 0
  %5059 = extractelement <4 x float> %5057, i32 1
  %5060 = extractelement <4 x float> %5057, i32 2
  %5061 = extractelement <4 x float> %5057, i32 3
  %5062 = insertelement <4 x float> undef, float %5058, i32 0
  %5063 = insertelement <4 x float> %5062, float %5059, i32 1
  %5064 = insertelement <4 x float> %5063, float %5060, i32 2
  %5065 = insertelement <4 x float> %5064, float %5061, i32 3
  store float %5058, ptr %local2, align 4
  store float %5059, ptr %local29, align 4
  store float %5060, ptr %local210, align 4
  store float %5061, ptr %local211, align 4
  %5066 = mul nsw i32 %212, 2112
  %5067 = add nsw i32 1452, %5066
  %5068 = add nsw i32 16, %10
  %5069 = mul nsw i32 %5068, 4
  %5070 = mul i32 %10, 4
  %5071 = add nsw i32 %5067, %5069
  %5072 = add i32 %5066, %5070
  %5073 = mul nsw i32 %5071, 4
  %5074 = mul i32 %5072, 4
  %5075 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %5074
  %5076 = getelementptr i8, ptr addrspace(3) %5075, i64 6064
  %5077 = load <4 x float>, ptr addrspace(3) %5076, align 16
  %5078 = extractelement <4 x float> %5077, i32 0
  %5079 = extractelement <4 x float> %5077, i32 1
  %5080 = extractelement <4 x float> %5077, i32 2
  %5081 = extractelement <4 x float> %5077, i32 3
  %5082 = insertelement <4 x float> undef, float %5078, i32 0
  %5083 = insertelement <4 x float> %5082, float %5079, i32 1
  %5084 = insertelement <4 x float> %5083, float %5080, i32 2
  %5085 = insertelement <4 x float> %5084, float %5081, i32 3
  store float %5078, ptr %local212, align 4
  store float %5079, ptr %local213, align 4
  store float %5080, ptr %local214, align 4
  store float %5081, ptr %local215, align 4
  %5086 = mul nsw i32 %212, 2048
  %5087 = add nsw i32 1408, %5086
  %5088 = mul nsw i32 %9, 4
  %5089 = add nsw i32 %5087, %5088
  %5090 = add i32 %5086, %5088
  %5091 = mul nsw i32 %5089, 4
  %5092 = mul i32 %5090, 4
  %5093 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %5092
  %5094 = getelementptr i8, ptr addrspace(3) %5093, i64 5632
  %5095 = load <4 x float>, ptr addrspace(3) %5094, align 16
  %5096 = extractelement <4 x float> %5095, i32 0
  %5097 = extractelement <4 x float> %5095, i32 1
  %5098 = extractelement <4 x float> %5095, i32 2
  %5099 = extractelement <4 x float> %5095, i32 3
  %5100 = insertelement <4 x float> undef, float %5096, i32 0
  %5101 = insertelement <4 x float> %5100, float %5097, i32 1
  %5102 = insertelement <4 x float> %5101, float %5098, i32 2
  %5103 = insertelement <4 x float> %5102, float %5099, i32 3
  store float %5096, ptr %local3, align 4
  store float %5097, ptr %local316, align 4
  store float %5098, ptr %local317, align 4
  store float %5099, ptr %local318, align 4
  %5104 = mul nsw i32 %212, 2048
  %5105 = add nsw i32 1408, %5104
  %5106 = add nsw i32 16, %9
  %5107 = mul nsw i32 %5106, 4
  %5108 = mul i32 %9, 4
  %5109 = add nsw i32 %5105, %5107
  %5110 = add i32 %5104, %5108
  %5111 = mul nsw i32 %5109, 4
  %5112 = mul i32 %5110, 4
  %5113 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %5112
  %5114 = getelementptr i8, ptr addrspace(3) %5113, i64 5888
  %5115 = load <4 x float>, ptr addrspace(3) %5114, align 16
  %5116 = extractelement <4 x float> %5115, i32 0
  %5117 = extractelement <4 x float> %5115, i32 1
  %5118 = extractelement <4 x float> %5115, i32 2
  %5119 = extractelement <4 x float> %5115, i32 3
  %5120 = insertelement <4 x float> undef, float %5116, i32 0
  %5121 = insertelement <4 x float> %5120, float %5117, i32 1
  %5122 = insertelement <4 x float> %5121, float %5118, i32 2
  %5123 = insertelement <4 x float> %5122, float %5119, i32 3
  store float %5116, ptr %local319, align 4
  store float %5117, ptr %local320, align 4
  store float %5118, ptr %local321, align 4
  store float %5119, ptr %local322, align 4
  %5124 = load float, ptr %local2, align 4
  %5125 = load float, ptr %local3, align 4
  %5126 = load float, ptr %local4, align 4
  %5127 = call float @llvm.fma.f32(float %5124, float %5125, float %5126)
  store float %5127, ptr %local4, align 4
  %5128 = load float, ptr %local2, align 4
  %5129 = load float, ptr %local316, align 4
  %5130 = load float, ptr %local430, align 4
  %5131 = call float @llvm.fma.f32(float %5128, float %5129, float %5130)
  store float %5131, ptr %local430, align 4
  %5132 = load float, ptr %local2, align 4
  %5133 = load float, ptr %local317, align 4
  %5134 = load float, ptr %local438, align 4
  %5135 = call float @llvm.fma.f32(float %5132, float %5133, float %5134)
  store float %5135, ptr %local438, align 4
  %5136 = load float, ptr %local2, align 4
  %5137 = load float, ptr %local318, align 4
  %5138 = load float, ptr %local446, align 4
  %5139 = call float @llvm.fma.f32(float %5136, float %5137, float %5138)
  store float %5139, ptr %local446, align 4
  %5140 = load float, ptr %local2, align 4
  %5141 = load float, ptr %local319, align 4
  %5142 = load float, ptr %local454, align 4
  %5143 = call float @llvm.fma.f32(float %5140, float %5141, float %5142)
  store float %5143, ptr %local454, align 4
  %5144 = load float, ptr %local2, align 4
  %5145 = load float, ptr %local320, align 4
  %5146 = load float, ptr %local462, align 4
  %5147 = call float @llvm.fma.f32(float %5144, float %5145, float %5146)
  store float %5147, ptr %local462, align 4
  %5148 = load float, ptr %local2, align 4
  %5149 = load float, ptr %local321, align 4
  %5150 = load float, ptr %local470, align 4
  %5151 = call float @llvm.fma.f32(float %5148, float %5149, float %5150)
  store float %5151, ptr %local470, align 4
  %5152 = load float, ptr %local2, align 4
  %5153 = load float, ptr %local322, align 4
  %5154 = load float, ptr %local478, align 4
  %5155 = call float @llvm.fma.f32(float %5152, float %5153, float %5154)
  store float %5155, ptr %local478, align 4
  %5156 = load float, ptr %local29, align 4
  %5157 = load float, ptr %local3, align 4
  %5158 = load float, ptr %local423, align 4
  %5159 = call float @llvm.fma.f32(float %5156, float %5157, float %5158)
  store float %5159, ptr %local423, align 4
  %5160 = load float, ptr %local29, align 4
  %5161 = load float, ptr %local316, align 4
  %5162 = load float, ptr %local431, align 4
  %5163 = call float @llvm.fma.f32(float %5160, float %5161, float %5162)
  store float %5163, ptr %local431, align 4
  %5164 = load float, ptr %local29, align 4
  %5165 = load float, ptr %local317, align 4
  %5166 = load float, ptr %local439, align 4
  %5167 = call float @llvm.fma.f32(float %5164, float %5165, float %5166)
  store float %5167, ptr %local439, align 4
  %5168 = load float, ptr %local29, align 4
  %5169 = load float, ptr %local318, align 4
  %5170 = load float, ptr %local447, align 4
  %5171 = call float @llvm.fma.f32(float %5168, float %5169, float %5170)
  store float %5171, ptr %local447, align 4
  %5172 = load float, ptr %local29, align 4
  %5173 = load float, ptr %local319, align 4
  %5174 = load float, ptr %local455, align 4
  %5175 = call float @llvm.fma.f32(float %5172, float %5173, float %5174)
  store float %5175, ptr %local455, align 4
  %5176 = load float, ptr %local29, align 4
  %5177 = load float, ptr %local320, align 4
  %5178 = load float, ptr %local463, align 4
  %5179 = call float @llvm.fma.f32(float %5176, float %5177, float %5178)
  store float %5179, ptr %local463, align 4
  %5180 = load float, ptr %local29, align 4
  %5181 = load float, ptr %local321, align 4
  %5182 = load float, ptr %local471, align 4
  %5183 = call float @llvm.fma.f32(float %5180, float %5181, float %5182)
  store float %5183, ptr %local471, align 4
  %5184 = load float, ptr %local29, align 4
  %5185 = load float, ptr %local322, align 4
  %5186 = load float, ptr %local479, align 4
  %5187 = call float @llvm.fma.f32(float %5184, float %5185, float %5186)
  store float %5187, ptr %local479, align 4
  %5188 = load float, ptr %local210, align 4
  %5189 = load float, ptr %local3, align 4
  %5190 = load float, ptr %local424, align 4
  %5191 = call float @llvm.fma.f32(float %5188, float %5189, float %5190)
  store float %5191, ptr %local424, align 4
  %5192 = load float, ptr %local210, align 4
  %5193 = load float, ptr %local316, align 4
  %5194 = load float, ptr %local432, align 4
  %5195 = call float @llvm.fma.f32(float %5192, float %5193, float %5194)
  store float %5195, ptr %local432, align 4
  %5196 = load float, ptr %local210, align 4
  %5197 = load float, ptr %local317, align 4
  %5198 = load float, ptr %local440, align 4
  %5199 = call float @llvm.fma.f32(float %5196, float %5197, float %5198)
  store float %5199, ptr %local440, align 4
  %5200 = load float, ptr %local210, align 4
  %5201 = load float, ptr %local318, align 4
  %5202 = load float, ptr %local448, align 4
  %5203 = call float @llvm.fma.f32(float %5200, float %5201, float %5202)
  store float %5203, ptr %local448, align 4
  %5204 = load float, ptr %local210, align 4
  %5205 = load float, ptr %local319, align 4
  %5206 = load float, ptr %local456, align 4
  %5207 = call float @llvm.fma.f32(float %5204, float %5205, float %5206)
  store float %5207, ptr %local456, align 4
  %5208 = load float, ptr %local210, align 4
  %5209 = load float, ptr %local320, align 4
  %5210 = load float, ptr %local464, align 4
  %5211 = call float @llvm.fma.f32(float %5208, float %5209, float %5210)
  store float %5211, ptr %local464, align 4
  %5212 = load float, ptr %local210, align 4
  %5213 = load float, ptr %local321, align 4
  %5214 = load float, ptr %local472, align 4
  %5215 = call float @llvm.fma.f32(float %5212, float %5213, float %5214)
  store float %5215, ptr %local472, align 4
  %5216 = load float, ptr %local210, align 4
  %5217 = load float, ptr %local322, align 4
  %5218 = load float, ptr %local480, align 4
  %5219 = call float @llvm.fma.f32(float %5216, float %5217, float %5218)
  store float %5219, ptr %local480, align 4
  %5220 = load float, ptr %local211, align 4
  %5221 = load float, ptr %local3, align 4
  %5222 = load float, ptr %local425, align 4
  %5223 = call float @llvm.fma.f32(float %5220, float %5221, float %5222)
  store float %5223, ptr %local425, align 4
  %5224 = load float, ptr %local211, align 4
  %5225 = load float, ptr %local316, align 4
  %5226 = load float, ptr %local433, align 4
  %5227 = call float @llvm.fma.f32(float %5224, float %5225, float %5226)
  store float %5227, ptr %local433, align 4
  %5228 = load float, ptr %local211, align 4
  %5229 = load float, ptr %local317, align 4
  %5230 = load float, ptr %local441, align 4
  %5231 = call float @llvm.fma.f32(float %5228, float %5229, float %5230)
  store float %5231, ptr %local441, align 4
  %5232 = load float, ptr %local211, align 4
  %5233 = load float, ptr %local318, align 4
  %5234 = load float, ptr %local449, align 4
  %5235 = call float @llvm.fma.f32(float %5232, float %5233, float %5234)
  store float %5235, ptr %local449, align 4
  %5236 = load float, ptr %local211, align 4
  %5237 = load float, ptr %local319, align 4
  %5238 = load float, ptr %local457, align 4
  %5239 = call float @llvm.fma.f32(float %5236, float %5237, float %5238)
  store float %5239, ptr %local457, align 4
  %5240 = load float, ptr %local211, align 4
  %5241 = load float, ptr %local320, align 4
  %5242 = load float, ptr %local465, align 4
  %5243 = call float @llvm.fma.f32(float %5240, float %5241, float %5242)
  store float %5243, ptr %local465, align 4
  %5244 = load float, ptr %local211, align 4
  %5245 = load float, ptr %local321, align 4
  %5246 = load float, ptr %local473, align 4
  %5247 = call float @llvm.fma.f32(float %5244, float %5245, float %5246)
  store float %5247, ptr %local473, align 4
  %5248 = load float, ptr %local211, align 4
  %5249 = load float, ptr %local322, align 4
  %5250 = load float, ptr %local481, align 4
  %5251 = call float @llvm.fma.f32(float %5248, float %5249, float %5250)
  store float %5251, ptr %local481, align 4
  %5252 = load float, ptr %local212, align 4
  %5253 = load float, ptr %local3, align 4
  %5254 = load float, ptr %local426, align 4
  %5255 = call float @llvm.fma.f32(float %5252, float %5253, float %5254)
  store float %5255, ptr %local426, align 4
  %5256 = load float, ptr %local212, align 4
  %5257 = load float, ptr %local316, align 4
  %5258 = load float, ptr %local434, align 4
  %5259 = call float @llvm.fma.f32(float %5256, float %5257, float %5258)
  store float %5259, ptr %local434, align 4
  %5260 = load float, ptr %local212, align 4
  %5261 = load float, ptr %local317, align 4
  %5262 = load float, ptr %local442, align 4
  %5263 = call float @llvm.fma.f32(float %5260, float %5261, float %5262)
  store float %5263, ptr %local442, align 4
  %5264 = load float, ptr %local212, align 4
  %5265 = load float, ptr %local318, align 4
  %5266 = load float, ptr %local450, align 4
  %5267 = call float @llvm.fma.f32(float %5264, float %5265, float %5266)
  store float %5267, ptr %local450, align 4
  %5268 = load float, ptr %local212, align 4
  %5269 = load float, ptr %local319, align 4
  %5270 = load float, ptr %local458, align 4
  %5271 = call float @llvm.fma.f32(float %5268, float %5269, float %5270)
  store float %5271, ptr %local458, align 4
  %5272 = load float, ptr %local212, align 4
  %5273 = load float, ptr %local320, align 4
  %5274 = load float, ptr %local466, align 4
  %5275 = call float @llvm.fma.f32(float %5272, float %5273, float %5274)
  store float %5275, ptr %local466, align 4
  %5276 = load float, ptr %local212, align 4
  %5277 = load float, ptr %local321, align 4
  %5278 = load float, ptr %local474, align 4
  %5279 = call float @llvm.fma.f32(float %5276, float %5277, float %5278)
  store float %5279, ptr %local474, align 4
  %5280 = load float, ptr %local212, align 4
  %5281 = load float, ptr %local322, align 4
  %5282 = load float, ptr %local482, align 4
  %5283 = call float @llvm.fma.f32(float %5280, float %5281, float %5282)
  store float %5283, ptr %local482, align 4
  %5284 = load float, ptr %local213, align 4
  %5285 = load float, ptr %local3, align 4
  %5286 = load float, ptr %local427, align 4
  %5287 = call float @llvm.fma.f32(float %5284, float %5285, float %5286)
  store float %5287, ptr %local427, align 4
  %5288 = load float, ptr %local213, align 4
  %5289 = load float, ptr %local316, align 4
  %5290 = load float, ptr %local435, align 4
  %5291 = call float @llvm.fma.f32(float %5288, float %5289, float %5290)
  store float %5291, ptr %local435, align 4
  %5292 = load float, ptr %local213, align 4
  %5293 = load float, ptr %local317, align 4
  %5294 = load float, ptr %local443, align 4
  %5295 = call float @llvm.fma.f32(float %5292, float %5293, float %5294)
  store float %5295, ptr %local443, align 4
  %5296 = load float, ptr %local213, align 4
  %5297 = load float, ptr %local318, align 4
  %5298 = load float, ptr %local451, align 4
  %5299 = call float @llvm.fma.f32(float %5296, float %5297, float %5298)
  store float %5299, ptr %local451, align 4
  %5300 = load float, ptr %local213, align 4
  %5301 = load float, ptr %local319, align 4
  %5302 = load float, ptr %local459, align 4
  %5303 = call float @llvm.fma.f32(float %5300, float %5301, float %5302)
  store float %5303, ptr %local459, align 4
  %5304 = load float, ptr %local213, align 4
  %5305 = load float, ptr %local320, align 4
  %5306 = load float, ptr %local467, align 4
  %5307 = call float @llvm.fma.f32(float %5304, float %5305, float %5306)
  store float %5307, ptr %local467, align 4
  %5308 = load float, ptr %local213, align 4
  %5309 = load float, ptr %local321, align 4
  %5310 = load float, ptr %local475, align 4
  %5311 = call float @llvm.fma.f32(float %5308, float %5309, float %5310)
  store float %5311, ptr %local475, align 4
  %5312 = load float, ptr %local213, align 4
  %5313 = load float, ptr %local322, align 4
  %5314 = load float, ptr %local483, align 4
  %5315 = call float @llvm.fma.f32(float %5312, float %5313, float %5314)
  store float %5315, ptr %local483, align 4
  %5316 = load float, ptr %local214, align 4
  %5317 = load float, ptr %local3, align 4
  %5318 = load float, ptr %local428, align 4
  %5319 = call float @llvm.fma.f32(float %5316, float %5317, float %5318)
  store float %5319, ptr %local428, align 4
  %5320 = load float, ptr %local214, align 4
  %5321 = load float, ptr %local316, align 4
  %5322 = load float, ptr %local436, align 4
  %5323 = call float @llvm.fma.f32(float %5320, float %5321, float %5322)
  store float %5323, ptr %local436, align 4
  %5324 = load float, ptr %local214, align 4
  %5325 = load float, ptr %local317, align 4
  %5326 = load float, ptr %local444, align 4
  %5327 = call float @llvm.fma.f32(float %5324, float %5325, float %5326)
  store float %5327, ptr %local444, align 4
  %5328 = load float, ptr %local214, align 4
  %5329 = load float, ptr %local318, align 4
  %5330 = load float, ptr %local452, align 4
  %5331 = call float @llvm.fma.f32(float %5328, float %5329, float %5330)
  store float %5331, ptr %local452, align 4
  %5332 = load float, ptr %local214, align 4
  %5333 = load float, ptr %local319, align 4
  %5334 = load float, ptr %local460, align 4
  %5335 = call float @llvm.fma.f32(float %5332, float %5333, float %5334)
  store float %5335, ptr %local460, align 4
  %5336 = load float, ptr %local214, align 4
  %5337 = load float, ptr %local320, align 4
  %5338 = load float, ptr %local468, align 4
  %5339 = call float @llvm.fma.f32(float %5336, float %5337, float %5338)
  store float %5339, ptr %local468, align 4
  %5340 = load float, ptr %local214, align 4
  %5341 = load float, ptr %local321, align 4
  %5342 = load float, ptr %local476, align 4
  %5343 = call float @llvm.fma.f32(float %5340, float %5341, float %5342)
  store float %5343, ptr %local476, align 4
  %5344 = load float, ptr %local214, align 4
  %5345 = load float, ptr %local322, align 4
  %5346 = load float, ptr %local484, align 4
  %5347 = call float @llvm.fma.f32(float %5344, float %5345, float %5346)
  store float %5347, ptr %local484, align 4
  %5348 = load float, ptr %local215, align 4
  %5349 = load float, ptr %local3, align 4
  %5350 = load float, ptr %local429, align 4
  %5351 = call float @llvm.fma.f32(float %5348, float %5349, float %5350)
  store float %5351, ptr %local429, align 4
  %5352 = load float, ptr %local215, align 4
  %5353 = load float, ptr %local316, align 4
  %5354 = load float, ptr %local437, align 4
  %5355 = call float @llvm.fma.f32(float %5352, float %5353, float %5354)
  store float %5355, ptr %local437, align 4
  %5356 = load float, ptr %local215, align 4
  %5357 = load float, ptr %local317, align 4
  %5358 = load float, ptr %local445, align 4
  %5359 = call float @llvm.fma.f32(float %5356, float %5357, float %5358)
  store float %5359, ptr %local445, align 4
  %5360 = load float, ptr %local215, align 4
  %5361 = load float, ptr %local318, align 4
  %5362 = load float, ptr %local453, align 4
  %5363 = call float @llvm.fma.f32(float %5360, float %5361, float %5362)
  store float %5363, ptr %local453, align 4
  %5364 = load float, ptr %local215, align 4
  %5365 = load float, ptr %local319, align 4
  %5366 = load float, ptr %local461, align 4
  %5367 = call float @llvm.fma.f32(float %5364, float %5365, float %5366)
  store float %5367, ptr %local461, align 4
  %5368 = load float, ptr %local215, align 4
  %5369 = load float, ptr %local320, align 4
  %5370 = load float, ptr %local469, align 4
  %5371 = call float @llvm.fma.f32(float %5368, float %5369, float %5370)
  store float %5371, ptr %local469, align 4
  %5372 = load float, ptr %local215, align 4
  %5373 = load float, ptr %local321, align 4
  %5374 = load float, ptr %local477, align 4
  %5375 = call float @llvm.fma.f32(float %5372, float %5373, float %5374)
  store float %5375, ptr %local477, align 4
  %5376 = load float, ptr %local215, align 4
  %5377 = load float, ptr %local322, align 4
  %5378 = load float, ptr %local485, align 4
  %5379 = call float @llvm.fma.f32(float %5376, float %5377, float %5378)
  store float %5379, ptr %local485, align 4
  %5380 = mul nsw i32 %212, 2112
  %5381 = add nsw i32 1584, %5380
  %5382 = mul nsw i32 %10, 4
  %5383 = add nsw i32 %5381, %5382
  %5384 = add i32 %5380, %5382
  %5385 = mul nsw i32 %5383, 4
  %5386 = mul i32 %5384, 4
  %5387 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %5386
  %5388 = getelementptr i8, ptr addrspace(3) %5387, i64 6336
  %5389 = load <4 x float>, ptr addrspace(3) %5388, align 16
  %5390 = extractelement <4 x float> %5389, i32 0
  %5391 = extractelement <4 x float> %5389, i32 1
  %5392 = extractelement <4 x float> %5389, i32 2
  %5393 = extractelement <4 x float> %5389, i32 3
  %5394 = insertelement <4 x float> undef, float %5390, i32 0
  %5395 = insertelement <4 x float> %5394, float %5391, i32 1
  %5396 = insertelement <4 x float> %5395, float %5392, i32 2
  %5397 = insertelement <4 x float> %5396, float %5393, i32 3
  store float %5390, ptr %local2, align 4
  store float %5391, ptr %local29, align 4
  store float %5392, ptr %local210, align 4
  store float %5393, ptr %local211, align 4
  %5398 = mul nsw i32 %212, 2112
  %5399 = add nsw i32 1584, %5398
  %5400 = add nsw i32 16, %10
  %5401 = mul nsw i32 %5400, 4
  %5402 = mul i32 %10, 4
  %5403 = add nsw i32 %5399, %5401
  %5404 = add i32 %5398, %5402
  %5405 = mul nsw i32 %5403, 4
  %5406 = mul i32 %5404, 4
  %5407 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %5406
  %5408 = getelementptr i8, ptr addrspace(3) %5407, i64 6592
  %5409 = load <4 x float>, ptr addrspace(3) %5408, align 16
  %5410 = extractelement <4 x float> %5409, i32 0
  %5411 = extractelement <4 x float> %5409, i32 1
  %5412 = extractelement <4 x float> %5409, i32 2
  %5413 = extractelement <4 x float> %5409, i32 3
  %5414 = insertelement <4 x float> undef, float %5410, i32 0
  %5415 = insertelement <4 x float> %5414, float %5411, i32 1
  %5416 = insertelement <4 x float> %5415, float %5412, i32 2
  %5417 = insertelement <4 x float> %5416, float %5413, i32 3
  store float %5410, ptr %local212, align 4
  store float %5411, ptr %local213, align 4
  store float %5412, ptr %local214, align 4
  store float %5413, ptr %local215, align 4
  %5418 = mul nsw i32 %212, 2048
  %5419 = add nsw i32 1536, %5418
  %5420 = mul nsw i32 %9, 4
  %5421 = add nsw i32 %5419, %5420
  %5422 = add i32 %5418, %5420
  %5423 = mul nsw i32 %5421, 4
  %5424 = mul i32 %5422, 4
  %5425 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %5424
  %5426 = getelementptr i8, ptr addrspace(3) %5425, i64 6144
  %5427 = load <4 x float>, ptr addrspace(3) %5426, align 16
  %5428 = extractelement <4 x float> %5427, i32 0
  %5429 = extractelement <4 x float> %5427, i32 1
  %5430 = extractelement <4 x float> %5427, i32 2
  %5431 = extractelement <4 x float> %5427, i32 3
  %5432 = insertelement <4 x float> undef, float %5428, i32 0
  %5433 = insertelement <4 x float> %5432, float %5429, i32 1
  %5434 = insertelement <4 x float> %5433, float %5430, i32 2
  %5435 = insertelement <4 x float> %5434, float %5431, i32 3
  store float %5428, ptr %local3, align 4
  store float %5429, ptr %local316, align 4
  store float %5430, ptr %local317, align 4
  store float %5431, ptr %local318, align 4
  %5436 = mul nsw i32 %212, 2048
  %5437 = add nsw i32 1536, %5436
  %5438 = add nsw i32 16, %9
  %5439 = mul nsw i32 %5438, 4
  %5440 = mul i32 %9, 4
  %5441 = add nsw i32 %5437, %5439
  %5442 = add i32 %5436, %5440
  %5443 = mul nsw i32 %5441, 4
  %5444 = mul i32 %5442, 4
  %5445 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %5444
  %5446 = getelementptr i8, ptr addrspace(3) %5445, i64 6400
  %5447 = load <4 x float>, ptr addrspace(3) %5446, align 16
  %5448 = extractelement <4 x float> %5447, i32 0
  %5449 = extractelement <4 x float> %5447, i32 1
  %5450 = extractelement <4 x float> %5447, i32 2
  %5451 = extractelement <4 x float> %5447, i32 3
  %5452 = insertelement <4 x float> undef, float %5448, i32 0
  %5453 = insertelement <4 x float> %5452, float %5449, i32 1
  %5454 = insertelement <4 x float> %5453, float %5450, i32 2
  %5455 = insertelement <4 x float> %5454, float %5451, i32 3
  store float %5448, ptr %local319, align 4
  store float %5449, ptr %local320, align 4
  store float %5450, ptr %local321, align 4
  store float %5451, ptr %local322, align 4
  %5456 = load float, ptr %local2, align 4
  %5457 = load float, ptr %local3, align 4
  %5458 = load float, ptr %local4, align 4
  %5459 = call float @llvm.fma.f32(float %5456, float %5457, float %5458)
  store float %5459, ptr %local4, align 4
  %5460 = load float, ptr %local2, align 4
  %5461 = load float, ptr %local316, align 4
  %5462 = load float, ptr %local430, align 4
  %5463 = call float @llvm.fma.f32(float %5460, float %5461, float %5462)
  store float %5463, ptr %local430, align 4
  %5464 = load float, ptr %local2, align 4
  %5465 = load float, ptr %local317, align 4
  %5466 = load float, ptr %local438, align 4
  %5467 = call float @llvm.fma.f32(float %5464, float %5465, float %5466)
  store float %5467, ptr %local438, align 4
  %5468 = load float, ptr %local2, align 4
  %5469 = load float, ptr %local318, align 4
  %5470 = load float, ptr %local446, align 4
  %5471 = call float @llvm.fma.f32(float %5468, float %5469, float %5470)
  store float %5471, ptr %local446, align 4
  %5472 = load float, ptr %local2, align 4
  %5473 = load float, ptr %local319, align 4
  %5474 = load float, ptr %local454, align 4
  %5475 = call float @llvm.fma.f32(float %5472, float %5473, float %5474)
  store float %5475, ptr %local454, align 4
  %5476 = load float, ptr %local2, align 4
  %5477 = load float, ptr %local320, align 4
  %5478 = load float, ptr %local462, align 4
  %5479 = call float @llvm.fma.f32(float %5476, float %5477, float %5478)
  store float %5479, ptr %local462, align 4
  %5480 = load float, ptr %local2, align 4
  %5481 = load float, ptr %local321, align 4
  %5482 = load float, ptr %local470, align 4
  %5483 = call float @llvm.fma.f32(float %5480, float %5481, float %5482)
  store float %5483, ptr %local470, align 4
  %5484 = load float, ptr %local2, align 4
  %5485 = load float, ptr %local322, align 4
  %5486 = load float, ptr %local478, align 4
  %5487 = call float @llvm.fma.f32(float %5484, float %5485, float %5486)
  store float %5487, ptr %local478, align 4
  %5488 = load float, ptr %local29, align 4
  %5489 = load float, ptr %local3, align 4
  %5490 = load float, ptr %local423, align 4
  %5491 = call float @llvm.fma.f32(float %5488, float %5489, float %5490)
  store float %5491, ptr %local423, align 4
  %5492 = load float, ptr %local29, align 4
  %5493 = load float, ptr %local316, align 4
  %5494 = load float, ptr %local431, align 4
  %5495 = call float @llvm.fma.f32(float %5492, float %5493, float %5494)
  store float %5495, ptr %local431, align 4
  %5496 = load float, ptr %local29, align 4
  %5497 = load float, ptr %local317, align 4
  %5498 = load float, ptr %local439, align 4
  %5499 = call float @llvm.fma.f32(float %5496, float %5497, float %5498)
  store float %5499, ptr %local439, align 4
  %5500 = load float, ptr %local29, align 4
  %5501 = load float, ptr %local318, align 4
  %5502 = load float, ptr %local447, align 4
  %5503 = call float @llvm.fma.f32(float %5500, float %5501, float %5502)
  store float %5503, ptr %local447, align 4
  %5504 = load float, ptr %local29, align 4
  %5505 = load float, ptr %local319, align 4
  %5506 = load float, ptr %local455, align 4
  %5507 = call float @llvm.fma.f32(float %5504, float %5505, float %5506)
  store float %5507, ptr %local455, align 4
  %5508 = load float, ptr %local29, align 4
  %5509 = load float, ptr %local320, align 4
  %5510 = load float, ptr %local463, align 4
  %5511 = call float @llvm.fma.f32(float %5508, float %5509, float %5510)
  store float %5511, ptr %local463, align 4
  %5512 = load float, ptr %local29, align 4
  %5513 = load float, ptr %local321, align 4
  %5514 = load float, ptr %local471, align 4
  %5515 = call float @llvm.fma.f32(float %5512, float %5513, float %5514)
  store float %5515, ptr %local471, align 4
  %5516 = load float, ptr %local29, align 4
  %5517 = load float, ptr %local322, align 4
  %5518 = load float, ptr %local479, align 4
  %5519 = call float @llvm.fma.f32(float %5516, float %5517, float %5518)
  store float %5519, ptr %local479, align 4
  %5520 = load float, ptr %local210, align 4
  %5521 = load float, ptr %local3, align 4
  %5522 = load float, ptr %local424, align 4
  %5523 = call float @llvm.fma.f32(float %5520, float %5521, float %5522)
  store float %5523, ptr %local424, align 4
  %5524 = load float, ptr %local210, align 4
  %5525 = load float, ptr %local316, align 4
  %5526 = load float, ptr %local432, align 4
  %5527 = call float @llvm.fma.f32(float %5524, float %5525, float %5526)
  store float %5527, ptr %local432, align 4
  %5528 = load float, ptr %local210, align 4
  %5529 = load float, ptr %local317, align 4
  %5530 = load float, ptr %local440, align 4
  %5531 = call float @llvm.fma.f32(float %5528, float %5529, float %5530)
  store float %5531, ptr %local440, align 4
  %5532 = load float, ptr %local210, align 4
  %5533 = load float, ptr %local318, align 4
  %5534 = load float, ptr %local448, align 4
  %5535 = call float @llvm.fma.f32(float %5532, float %5533, float %5534)
  store float %5535, ptr %local448, align 4
  %5536 = load float, ptr %local210, align 4
  %5537 = load float, ptr %local319, align 4
  %5538 = load float, ptr %local456, align 4
  %5539 = call float @llvm.fma.f32(float %5536, float %5537, float %5538)
  store float %5539, ptr %local456, align 4
  %5540 = load float, ptr %local210, align 4
  %5541 = load float, ptr %local320, align 4
  %5542 = load float, ptr %local464, align 4
  %5543 = call float @llvm.fma.f32(float %5540, float %5541, float %5542)
  store float %5543, ptr %local464, align 4
  %5544 = load float, ptr %local210, align 4
  %5545 = load float, ptr %local321, align 4
  %5546 = load float, ptr %local472, align 4
  %5547 = call float @llvm.fma.f32(float %5544, float %5545, float %5546)
  store float %5547, ptr %local472, align 4
  %5548 = load float, ptr %local210, align 4
  %5549 = load float, ptr %local322, align 4
  %5550 = load float, ptr %local480, align 4
  %5551 = call float @llvm.fma.f32(float %5548, float %5549, float %5550)
  store float %5551, ptr %local480, align 4
  %5552 = load float, ptr %local211, align 4
  %5553 = load float, ptr %local3, align 4
  %5554 = load float, ptr %local425, align 4
  %5555 = call float @llvm.fma.f32(float %5552, float %5553, float %5554)
  store float %5555, ptr %local425, align 4
  %5556 = load float, ptr %local211, align 4
  %5557 = load float, ptr %local316, align 4
  %5558 = load float, ptr %local433, align 4
  %5559 = call float @llvm.fma.f32(float %5556, float %5557, float %5558)
  store float %5559, ptr %local433, align 4
  %5560 = load float, ptr %local211, align 4
  %5561 = load float, ptr %local317, align 4
  %5562 = load float, ptr %local441, align 4
  %5563 = call float @llvm.fma.f32(float %5560, float %5561, float %5562)
  store float %5563, ptr %local441, align 4
  %5564 = load float, ptr %local211, align 4
  %5565 = load float, ptr %local318, align 4
  %5566 = load float, ptr %local449, align 4
  %5567 = call float @llvm.fma.f32(float %5564, float %5565, float %5566)
  store float %5567, ptr %local449, align 4
  %5568 = load float, ptr %local211, align 4
  %5569 = load float, ptr %local319, align 4
  %5570 = load float, ptr %local457, align 4
  %5571 = call float @llvm.fma.f32(float %5568, float %5569, float %5570)
  store float %5571, ptr %local457, align 4
  %5572 = load float, ptr %local211, align 4
  %5573 = load float, ptr %local320, align 4
  %5574 = load float, ptr %local465, align 4
  %5575 = call float @llvm.fma.f32(float %5572, float %5573, float %5574)
  store float %5575, ptr %local465, align 4
  %5576 = load float, ptr %local211, align 4
  %5577 = load float, ptr %local321, align 4
  %5578 = load float, ptr %local473, align 4
  %5579 = call float @llvm.fma.f32(float %5576, float %5577, float %5578)
  store float %5579, ptr %local473, align 4
  %5580 = load float, ptr %local211, align 4
  %5581 = load float, ptr %local322, align 4
  %5582 = load float, ptr %local481, align 4
  %5583 = call float @llvm.fma.f32(float %5580, float %5581, float %5582)
  store float %5583, ptr %local481, align 4
  %5584 = load float, ptr %local212, align 4
  %5585 = load float, ptr %local3, align 4
  %5586 = load float, ptr %local426, align 4
  %5587 = call float @llvm.fma.f32(float %5584, float %5585, float %5586)
  store float %5587, ptr %local426, align 4
  %5588 = load float, ptr %local212, align 4
  %5589 = load float, ptr %local316, align 4
  %5590 = load float, ptr %local434, align 4
  %5591 = call float @llvm.fma.f32(float %5588, float %5589, float %5590)
  store float %5591, ptr %local434, align 4
  %5592 = load float, ptr %local212, align 4
  %5593 = load float, ptr %local317, align 4
  %5594 = load float, ptr %local442, align 4
  %5595 = call float @llvm.fma.f32(float %5592, float %5593, float %5594)
  store float %5595, ptr %local442, align 4
  %5596 = load float, ptr %local212, align 4
  %5597 = load float, ptr %local318, align 4
  %5598 = load float, ptr %local450, align 4
  %5599 = call float @llvm.fma.f32(float %5596, float %5597, float %5598)
  store float %5599, ptr %local450, align 4
  %5600 = load float, ptr %local212, align 4
  %5601 = load float, ptr %local319, align 4
  %5602 = load float, ptr %local458, align 4
  %5603 = call float @llvm.fma.f32(float %5600, float %5601, float %5602)
  store float %5603, ptr %local458, align 4
  %5604 = load float, ptr %local212, align 4
  %5605 = load float, ptr %local320, align 4
  %5606 = load float, ptr %local466, align 4
  %5607 = call float @llvm.fma.f32(float %5604, float %5605, float %5606)
  store float %5607, ptr %local466, align 4
  %5608 = load float, ptr %local212, align 4
  %5609 = load float, ptr %local321, align 4
  %5610 = load float, ptr %local474, align 4
  %5611 = call float @llvm.fma.f32(float %5608, float %5609, float %5610)
  store float %5611, ptr %local474, align 4
  %5612 = load float, ptr %local212, align 4
  %5613 = load float, ptr %local322, align 4
  %5614 = load float, ptr %local482, align 4
  %5615 = call float @llvm.fma.f32(float %5612, float %5613, float %5614)
  store float %5615, ptr %local482, align 4
  %5616 = load float, ptr %local213, align 4
  %5617 = load float, ptr %local3, align 4
  %5618 = load float, ptr %local427, align 4
  %5619 = call float @llvm.fma.f32(float %5616, float %5617, float %5618)
  store float %5619, ptr %local427, align 4
  %5620 = load float, ptr %local213, align 4
  %5621 = load float, ptr %local316, align 4
  %5622 = load float, ptr %local435, align 4
  %5623 = call float @llvm.fma.f32(float %5620, float %5621, float %5622)
  store float %5623, ptr %local435, align 4
  %5624 = load float, ptr %local213, align 4
  %5625 = load float, ptr %local317, align 4
  %5626 = load float, ptr %local443, align 4
  %5627 = call float @llvm.fma.f32(float %5624, float %5625, float %5626)
  store float %5627, ptr %local443, align 4
  %5628 = load float, ptr %local213, align 4
  %5629 = load float, ptr %local318, align 4
  %5630 = load float, ptr %local451, align 4
  %5631 = call float @llvm.fma.f32(float %5628, float %5629, float %5630)
  store float %5631, ptr %local451, align 4
  %5632 = load float, ptr %local213, align 4
  %5633 = load float, ptr %local319, align 4
  %5634 = load float, ptr %local459, align 4
  %5635 = call float @llvm.fma.f32(float %5632, float %5633, float %5634)
  store float %5635, ptr %local459, align 4
  %5636 = load float, ptr %local213, align 4
  %5637 = load float, ptr %local320, align 4
  %5638 = load float, ptr %local467, align 4
  %5639 = call float @llvm.fma.f32(float %5636, float %5637, float %5638)
  store float %5639, ptr %local467, align 4
  %5640 = load float, ptr %local213, align 4
  %5641 = load float, ptr %local321, align 4
  %5642 = load float, ptr %local475, align 4
  %5643 = call float @llvm.fma.f32(float %5640, float %5641, float %5642)
  store float %5643, ptr %local475, align 4
  %5644 = load float, ptr %local213, align 4
  %5645 = load float, ptr %local322, align 4
  %5646 = load float, ptr %local483, align 4
  %5647 = call float @llvm.fma.f32(float %5644, float %5645, float %5646)
  store float %5647, ptr %local483, align 4
  %5648 = load float, ptr %local214, align 4
  %5649 = load float, ptr %local3, align 4
  %5650 = load float, ptr %local428, align 4
  %5651 = call float @llvm.fma.f32(float %5648, float %5649, float %5650)
  store float %5651, ptr %local428, align 4
  %5652 = load float, ptr %local214, align 4
  %5653 = load float, ptr %local316, align 4
  %5654 = load float, ptr %local436, align 4
  %5655 = call float @llvm.fma.f32(float %5652, float %5653, float %5654)
  store float %5655, ptr %local436, align 4
  %5656 = load float, ptr %local214, align 4
  %5657 = load float, ptr %local317, align 4
  %5658 = load float, ptr %local444, align 4
  %5659 = call float @llvm.fma.f32(float %5656, float %5657, float %5658)
  store float %5659, ptr %local444, align 4
  %5660 = load float, ptr %local214, align 4
  %5661 = load float, ptr %local318, align 4
  %5662 = load float, ptr %local452, align 4
  %5663 = call float @llvm.fma.f32(float %5660, float %5661, float %5662)
  store float %5663, ptr %local452, align 4
  %5664 = load float, ptr %local214, align 4
  %5665 = load float, ptr %local319, align 4
  %5666 = load float, ptr %local460, align 4
  %5667 = call float @llvm.fma.f32(float %5664, float %5665, float %5666)
  store float %5667, ptr %local460, align 4
  %5668 = load float, ptr %local214, align 4
  %5669 = load float, ptr %local320, align 4
  %5670 = load float, ptr %local468, align 4
  %5671 = call float @llvm.fma.f32(float %5668, float %5669, float %5670)
  store float %5671, ptr %local468, align 4
  %5672 = load float, ptr %local214, align 4
  %5673 = load float, ptr %local321, align 4
  %5674 = load float, ptr %local476, align 4
  %5675 = call float @llvm.fma.f32(float %5672, float %5673, float %5674)
  store float %5675, ptr %local476, align 4
  %5676 = load float, ptr %local214, align 4
  %5677 = load float, ptr %local322, align 4
  %5678 = load float, ptr %local484, align 4
  %5679 = call float @llvm.fma.f32(float %5676, float %5677, float %5678)
  store float %5679, ptr %local484, align 4
  %5680 = load float, ptr %local215, align 4
  %5681 = load float, ptr %local3, align 4
  %5682 = load float, ptr %local429, align 4
  %5683 = call float @llvm.fma.f32(float %5680, float %5681, float %5682)
  store float %5683, ptr %local429, align 4
  %5684 = load float, ptr %local215, align 4
  %5685 = load float, ptr %local316, align 4
  %5686 = load float, ptr %local437, align 4
  %5687 = call float @llvm.fma.f32(float %5684, float %5685, float %5686)
  store float %5687, ptr %local437, align 4
  %5688 = load float, ptr %local215, align 4
  %5689 = load float, ptr %local317, align 4
  %5690 = load float, ptr %local445, align 4
  %5691 = call float @llvm.fma.f32(float %5688, float %5689, float %5690)
  store float %5691, ptr %local445, align 4
  %5692 = load float, ptr %local215, align 4
  %5693 = load float, ptr %local318, align 4
  %5694 = load float, ptr %local453, align 4
  %5695 = call float @llvm.fma.f32(float %5692, float %5693, float %5694)
  store float %5695, ptr %local453, align 4
  %5696 = load float, ptr %local215, align 4
  %5697 = load float, ptr %local319, align 4
  %5698 = load float, ptr %local461, align 4
  %5699 = call float @llvm.fma.f32(float %5696, float %5697, float %5698)
  store float %5699, ptr %local461, align 4
  %5700 = load float, ptr %local215, align 4
  %5701 = load float, ptr %local320, align 4
  %5702 = load float, ptr %local469, align 4
  %5703 = call float @llvm.fma.f32(float %5700, float %5701, float %5702)
  store float %5703, ptr %local469, align 4
  %5704 = load float, ptr %local215, align 4
  %5705 = load float, ptr %local321, align 4
  %5706 = load float, ptr %local477, align 4
  %5707 = call float @llvm.fma.f32(float %5704, float %5705, float %5706)
  store float %5707, ptr %local477, align 4
  %5708 = load float, ptr %local215, align 4
  %5709 = load float, ptr %local322, align 4
  %5710 = load float, ptr %local485, align 4
  %5711 = call float @llvm.fma.f32(float %5708, float %5709, float %5710)
  store float %5711, ptr %local485, align 4
  %5712 = mul nsw i32 %212, 2112
  %5713 = add nsw i32 1716, %5712
  %5714 = mul nsw i32 %10, 4
  %5715 = add nsw i32 %5713, %5714
  %5716 = add i32 %5712, %5714
  %5717 = mul nsw i32 %5715, 4
  %5718 = mul i32 %5716, 4
  %5719 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %5718
  %5720 = getelementptr i8, ptr addrspace(3) %5719, i64 6864
  %5721 = load <4 x float>, ptr addrspace(3) %5720, align 16
  %5722 = extractelement <4 x float> %5721, i32 0
  %5723 = extractelement <4 x float> %5721, i32 1
  %5724 = extractelement <4 x float> %5721, i32 2
  %5725 = extractelement <4 x float> %5721, i32 3
  %5726 = insertelement <4 x float> undef, float %5722, i32 0
  %5727 = insertelement <4 x float> %5726, float %5723, i32 1
  %5728 = insertelement <4 x float> %5727, float %5724, i32 2
  %5729 = insertelement <4 x float> %5728, float %5725, i32 3
  store float %5722, ptr %local2, align 4
  store float %5723, ptr %local29, align 4
  store float %5724, ptr %local210, align 4
  store float %5725, ptr %local211, align 4
  %5730 = mul nsw i32 %212, 2112
  %5731 = add nsw i32 1716, %5730
  %5732 = add nsw i32 16, %10
  %5733 = mul nsw i32 %5732, 4
  %5734 = mul i32 %10, 4
  %5735 = add nsw i32 %5731, %5733
  %5736 = add i32 %5730, %5734
  %5737 = mul nsw i32 %5735, 4
  %5738 = mul i32 %5736, 4
  %5739 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %5738
  %5740 = getelementptr i8, ptr addrspace(3) %5739, i64 7120
  %5741 = load <4 x float>, ptr addrspace(3) %5740, align 16
  %5742 = extractelement <4 x float> %5741, i32 0
  %5743 = extractelement <4 x float> %5741, i32 1
  %5744 = extractelement <4 x float> %5741, i32 2
  %5745 = extractelement <4 x float> %5741, i32 3
  %5746 = insertelement <4 x float> undef, float %5742, i32 0
  %5747 = insertelement <4 x float> %5746, float %5743, i32 1
  %5748 = insertelement <4 x float> %5747, float %5744, i32 2
  %5749 = insertelement <4 x float> %5748, float %5745, i32 3
  store float %5742, ptr %local212, align 4
  store float %5743, ptr %local213, align 4
  store float %5744, ptr %local214, align 4
  store float %5745, ptr %local215, align 4
  %5750 = mul nsw i32 %212, 2048
  %5751 = add nsw i32 1664, %5750
  %5752 = mul nsw i32 %9, 4
  %5753 = add nsw i32 %5751, %5752
  %5754 = add i32 %5750, %5752
  %5755 = mul nsw i32 %5753, 4
  %5756 = mul i32 %5754, 4
  %5757 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %5756
  %5758 = getelementptr i8, ptr addrspace(3) %5757, i64 6656
  %5759 = load <4 x float>, ptr addrspace(3) %5758, align 16
  %5760 = extractelement <4 x float> %5759, i32 0
  %5761 = extractelement <4 x float> %5759, i32 1
  %5762 = extractelement <4 x float> %5759, i32 2
  %5763 = extractelement <4 x float> %5759, i32 3
  %5764 = insertelement <4 x float> undef, float %5760, i32 0
  %5765 = insertelement <4 x float> %5764, float %5761, i32 1
  %5766 = insertelement <4 x float> %5765, float %5762, i32 2
  %5767 = insertelement <4 x float> %5766, float %5763, i32 3
  store float %5760, ptr %local3, align 4
  store float %5761, ptr %local316, align 4
  store float %5762, ptr %local317, align 4
  store float %5763, ptr %local318, align 4
  %5768 = mul nsw i32 %212, 2048
  %5769 = add nsw i32 1664, %5768
  %5770 = add nsw i32 16, %9
  %5771 = mul nsw i32 %5770, 4
  %5772 = mul i32 %9, 4
  %5773 = add nsw i32 %5769, %5771
  %5774 = add i32 %5768, %5772
  %5775 = mul nsw i32 %5773, 4
  %5776 = mul i32 %5774, 4
  %5777 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %5776
  %5778 = getelementptr i8, ptr addrspace(3) %5777, i64 6912
  %5779 = load <4 x float>, ptr addrspace(3) %5778, align 16
  %5780 = extractelement <4 x float> %5779, i32 0
  %5781 = extractelement <4 x float> %5779, i32 1
  %5782 = extractelement <4 x float> %5779, i32 2
  %5783 = extractelement <4 x float> %5779, i32 3
  %5784 = insertelement <4 x float> undef, float %5780, i32 0
  %5785 = insertelement <4 x float> %5784, float %5781, i32 1
  %5786 = insertelement <4 x float> %5785, float %5782, i32 2
  %5787 = insertelement <4 x float> %5786, float %5783, i32 3
  store float %5780, ptr %local319, align 4
  store float %5781, ptr %local320, align 4
  store float %5782, ptr %local321, align 4
  store float %5783, ptr %local322, align 4
  %5788 = load float, ptr %local2, align 4
  %5789 = load float, ptr %local3, align 4
  %5790 = load float, ptr %local4, align 4
  %5791 = call float @llvm.fma.f32(float %5788, float %5789, float %5790)
  store float %5791, ptr %local4, align 4
  %5792 = load float, ptr %local2, align 4
  %5793 = load float, ptr %local316, align 4
  %5794 = load float, ptr %local430, align 4
  %5795 = call float @llvm.fma.f32(float %5792, float %5793, float %5794)
  store float %5795, ptr %local430, align 4
  %5796 = load float, ptr %local2, align 4
  %5797 = load float, ptr %local317, align 4
  %5798 = load float, ptr %local438, align 4
  %5799 = call float @llvm.fma.f32(float %5796, float %5797, float %5798)
  store float %5799, ptr %local438, align 4
  %5800 = load float, ptr %local2, align 4
  %5801 = load float, ptr %local318, align 4
  %5802 = load float, ptr %local446, align 4
  %5803 = call float @llvm.fma.f32(float %5800, float %5801, float %5802)
  store float %5803, ptr %local446, align 4
  %5804 = load float, ptr %local2, align 4
  %5805 = load float, ptr %local319, align 4
  %5806 = load float, ptr %local454, align 4
  %5807 = call float @llvm.fma.f32(float %5804, float %5805, float %5806)
  store float %5807, ptr %local454, align 4
  %5808 = load float, ptr %local2, align 4
  %5809 = load float, ptr %local320, align 4
  %5810 = load float, ptr %local462, align 4
  %5811 = call float @llvm.fma.f32(float %5808, float %5809, float %5810)
  store float %5811, ptr %local462, align 4
  %5812 = load float, ptr %local2, align 4
  %5813 = load float, ptr %local321, align 4
  %5814 = load float, ptr %local470, align 4
  %5815 = call float @llvm.fma.f32(float %5812, float %5813, float %5814)
  store float %5815, ptr %local470, align 4
  %5816 = load float, ptr %local2, align 4
  %5817 = load float, ptr %local322, align 4
  %5818 = load float, ptr %local478, align 4
  %5819 = call float @llvm.fma.f32(float %5816, float %5817, float %5818)
  store float %5819, ptr %local478, align 4
  %5820 = load float, ptr %local29, align 4
  %5821 = load float, ptr %local3, align 4
  %5822 = load float, ptr %local423, align 4
  %5823 = call float @llvm.fma.f32(float %5820, float %5821, float %5822)
  store float %5823, ptr %local423, align 4
  %5824 = load float, ptr %local29, align 4
  %5825 = load float, ptr %local316, align 4
  %5826 = load float, ptr %local431, align 4
  %5827 = call float @llvm.fma.f32(float %5824, float %5825, float %5826)
  store float %5827, ptr %local431, align 4
  %5828 = load float, ptr %local29, align 4
  %5829 = load float, ptr %local317, align 4
  %5830 = load float, ptr %local439, align 4
  %5831 = call float @llvm.fma.f32(float %5828, float %5829, float %5830)
  store float %5831, ptr %local439, align 4
  %5832 = load float, ptr %local29, align 4
  %5833 = load float, ptr %local318, align 4
  %5834 = load float, ptr %local447, align 4
  %5835 = call float @llvm.fma.f32(float %5832, float %5833, float %5834)
  store float %5835, ptr %local447, align 4
  %5836 = load float, ptr %local29, align 4
  %5837 = load float, ptr %local319, align 4
  %5838 = load float, ptr %local455, align 4
  %5839 = call float @llvm.fma.f32(float %5836, float %5837, float %5838)
  store float %5839, ptr %local455, align 4
  %5840 = load float, ptr %local29, align 4
  %5841 = load float, ptr %local320, align 4
  %5842 = load float, ptr %local463, align 4
  %5843 = call float @llvm.fma.f32(float %5840, float %5841, float %5842)
  store float %5843, ptr %local463, align 4
  %5844 = load float, ptr %local29, align 4
  %5845 = load float, ptr %local321, align 4
  %5846 = load float, ptr %local471, align 4
  %5847 = call float @llvm.fma.f32(float %5844, float %5845, float %5846)
  store float %5847, ptr %local471, align 4
  %5848 = load float, ptr %local29, align 4
  %5849 = load float, ptr %local322, align 4
  %5850 = load float, ptr %local479, align 4
  %5851 = call float @llvm.fma.f32(float %5848, float %5849, float %5850)
  store float %5851, ptr %local479, align 4
  %5852 = load float, ptr %local210, align 4
  %5853 = load float, ptr %local3, align 4
  %5854 = load float, ptr %local424, align 4
  %5855 = call float @llvm.fma.f32(float %5852, float %5853, float %5854)
  store float %5855, ptr %local424, align 4
  %5856 = load float, ptr %local210, align 4
  %5857 = load float, ptr %local316, align 4
  %5858 = load float, ptr %local432, align 4
  %5859 = call float @llvm.fma.f32(float %5856, float %5857, float %5858)
  store float %5859, ptr %local432, align 4
  %5860 = load float, ptr %local210, align 4
  %5861 = load float, ptr %local317, align 4
  %5862 = load float, ptr %local440, align 4
  %5863 = call float @llvm.fma.f32(float %5860, float %5861, float %5862)
  store float %5863, ptr %local440, align 4
  %5864 = load float, ptr %local210, align 4
  %5865 = load float, ptr %local318, align 4
  %5866 = load float, ptr %local448, align 4
  %5867 = call float @llvm.fma.f32(float %5864, float %5865, float %5866)
  store float %5867, ptr %local448, align 4
  %5868 = load float, ptr %local210, align 4
  %5869 = load float, ptr %local319, align 4
  %5870 = load float, ptr %local456, align 4
  %5871 = call float @llvm.fma.f32(float %5868, float %5869, float %5870)
  store float %5871, ptr %local456, align 4
  %5872 = load float, ptr %local210, align 4
  %5873 = load float, ptr %local320, align 4
  %5874 = load float, ptr %local464, align 4
  %5875 = call float @llvm.fma.f32(float %5872, float %5873, float %5874)
  store float %5875, ptr %local464, align 4
  %5876 = load float, ptr %local210, align 4
  %5877 = load float, ptr %local321, align 4
  %5878 = load float, ptr %local472, align 4
  %5879 = call float @llvm.fma.f32(float %5876, float %5877, float %5878)
  store float %5879, ptr %local472, align 4
  %5880 = load float, ptr %local210, align 4
  %5881 = load float, ptr %local322, align 4
  %5882 = load float, ptr %local480, align 4
  %5883 = call float @llvm.fma.f32(float %5880, float %5881, float %5882)
  store float %5883, ptr %local480, align 4
  %5884 = load float, ptr %local211, align 4
  %5885 = load float, ptr %local3, align 4
  %5886 = load float, ptr %local425, align 4
  %5887 = call float @llvm.fma.f32(float %5884, float %5885, float %5886)
  store float %5887, ptr %local425, align 4
  %5888 = load float, ptr %local211, align 4
  %5889 = load float, ptr %local316, align 4
  %5890 = load float, ptr %local433, align 4
  %5891 = call float @llvm.fma.f32(float %5888, float %5889, float %5890)
  store float %5891, ptr %local433, align 4
  %5892 = load float, ptr %local211, align 4
  %5893 = load float, ptr %local317, align 4
  %5894 = load float, ptr %local441, align 4
  %5895 = call float @llvm.fma.f32(float %5892, float %5893, float %5894)
  store float %5895, ptr %local441, align 4
  %5896 = load float, ptr %local211, align 4
  %5897 = load float, ptr %local318, align 4
  %5898 = load float, ptr %local449, align 4
  %5899 = call float @llvm.fma.f32(float %5896, float %5897, float %5898)
  store float %5899, ptr %local449, align 4
  %5900 = load float, ptr %local211, align 4
  %5901 = load float, ptr %local319, align 4
  %5902 = load float, ptr %local457, align 4
  %5903 = call float @llvm.fma.f32(float %5900, float %5901, float %5902)
  store float %5903, ptr %local457, align 4
  %5904 = load float, ptr %local211, align 4
  %5905 = load float, ptr %local320, align 4
  %5906 = load float, ptr %local465, align 4
  %5907 = call float @llvm.fma.f32(float %5904, float %5905, float %5906)
  store float %5907, ptr %local465, align 4
  %5908 = load float, ptr %local211, align 4
  %5909 = load float, ptr %local321, align 4
  %5910 = load float, ptr %local473, align 4
  %5911 = call float @llvm.fma.f32(float %5908, float %5909, float %5910)
  store float %5911, ptr %local473, align 4
  %5912 = load float, ptr %local211, align 4
  %5913 = load float, ptr %local322, align 4
  %5914 = load float, ptr %local481, align 4
  %5915 = call float @llvm.fma.f32(float %5912, float %5913, float %5914)
  store float %5915, ptr %local481, align 4
  %5916 = load float, ptr %local212, align 4
  %5917 = load float, ptr %local3, align 4
  %5918 = load float, ptr %local426, align 4
  %5919 = call float @llvm.fma.f32(float %5916, float %5917, float %5918)
  store float %5919, ptr %local426, align 4
  %5920 = load float, ptr %local212, align 4
  %5921 = load float, ptr %local316, align 4
  %5922 = load float, ptr %local434, align 4
  %5923 = call float @llvm.fma.f32(float %5920, float %5921, float %5922)
  store float %5923, ptr %local434, align 4
  %5924 = load float, ptr %local212, align 4
  %5925 = load float, ptr %local317, align 4
  %5926 = load float, ptr %local442, align 4
  %5927 = call float @llvm.fma.f32(float %5924, float %5925, float %5926)
  store float %5927, ptr %local442, align 4
  %5928 = load float, ptr %local212, align 4
  %5929 = load float, ptr %local318, align 4
  %5930 = load float, ptr %local450, align 4
  %5931 = call float @llvm.fma.f32(float %5928, float %5929, float %5930)
  store float %5931, ptr %local450, align 4
  %5932 = load float, ptr %local212, align 4
  %5933 = load float, ptr %local319, align 4
  %5934 = load float, ptr %local458, align 4
  %5935 = call float @llvm.fma.f32(float %5932, float %5933, float %5934)
  store float %5935, ptr %local458, align 4
  %5936 = load float, ptr %local212, align 4
  %5937 = load float, ptr %local320, align 4
  %5938 = load float, ptr %local466, align 4
  %5939 = call float @llvm.fma.f32(float %5936, float %5937, float %5938)
  store float %5939, ptr %local466, align 4
  %5940 = load float, ptr %local212, align 4
  %5941 = load float, ptr %local321, align 4
  %5942 = load float, ptr %local474, align 4
  %5943 = call float @llvm.fma.f32(float %5940, float %5941, float %5942)
  store float %5943, ptr %local474, align 4
  %5944 = load float, ptr %local212, align 4
  %5945 = load float, ptr %local322, align 4
  %5946 = load float, ptr %local482, align 4
  %5947 = call float @llvm.fma.f32(float %5944, float %5945, float %5946)
  store float %5947, ptr %local482, align 4
  %5948 = load float, ptr %local213, align 4
  %5949 = load float, ptr %local3, align 4
  %5950 = load float, ptr %local427, align 4
  %5951 = call float @llvm.fma.f32(float %5948, float %5949, float %5950)
  store float %5951, ptr %local427, align 4
  %5952 = load float, ptr %local213, align 4
  %5953 = load float, ptr %local316, align 4
  %5954 = load float, ptr %local435, align 4
  %5955 = call float @llvm.fma.f32(float %5952, float %5953, float %5954)
  store float %5955, ptr %local435, align 4
  %5956 = load float, ptr %local213, align 4
  %5957 = load float, ptr %local317, align 4
  %5958 = load float, ptr %local443, align 4
  %5959 = call float @llvm.fma.f32(float %5956, float %5957, float %5958)
  store float %5959, ptr %local443, align 4
  %5960 = load float, ptr %local213, align 4
  %5961 = load float, ptr %local318, align 4
  %5962 = load float, ptr %local451, align 4
  %5963 = call float @llvm.fma.f32(float %5960, float %5961, float %5962)
  store float %5963, ptr %local451, align 4
  %5964 = load float, ptr %local213, align 4
  %5965 = load float, ptr %local319, align 4
  %5966 = load float, ptr %local459, align 4
  %5967 = call float @llvm.fma.f32(float %5964, float %5965, float %5966)
  store float %5967, ptr %local459, align 4
  %5968 = load float, ptr %local213, align 4
  %5969 = load float, ptr %local320, align 4
  %5970 = load float, ptr %local467, align 4
  %5971 = call float @llvm.fma.f32(float %5968, float %5969, float %5970)
  store float %5971, ptr %local467, align 4
  %5972 = load float, ptr %local213, align 4
  %5973 = load float, ptr %local321, align 4
  %5974 = load float, ptr %local475, align 4
  %5975 = call float @llvm.fma.f32(float %5972, float %5973, float %5974)
  store float %5975, ptr %local475, align 4
  %5976 = load float, ptr %local213, align 4
  %5977 = load float, ptr %local322, align 4
  %5978 = load float, ptr %local483, align 4
  %5979 = call float @llvm.fma.f32(float %5976, float %5977, float %5978)
  store float %5979, ptr %local483, align 4
  %5980 = load float, ptr %local214, align 4
  %5981 = load float, ptr %local3, align 4
  %5982 = load float, ptr %local428, align 4
  %5983 = call float @llvm.fma.f32(float %5980, float %5981, float %5982)
  store float %5983, ptr %local428, align 4
  %5984 = load float, ptr %local214, align 4
  %5985 = load float, ptr %local316, align 4
  %5986 = load float, ptr %local436, align 4
  %5987 = call float @llvm.fma.f32(float %5984, float %5985, float %5986)
  store float %5987, ptr %local436, align 4
  %5988 = load float, ptr %local214, align 4
  %5989 = load float, ptr %local317, align 4
  %5990 = load float, ptr %local444, align 4
  %5991 = call float @llvm.fma.f32(float %5988, float %5989, float %5990)
  store float %5991, ptr %local444, align 4
  %5992 = load float, ptr %local214, align 4
  %5993 = load float, ptr %local318, align 4
  %5994 = load float, ptr %local452, align 4
  %5995 = call float @llvm.fma.f32(float %5992, float %5993, float %5994)
  store float %5995, ptr %local452, align 4
  %5996 = load float, ptr %local214, align 4
  %5997 = load float, ptr %local319, align 4
  %5998 = load float, ptr %local460, align 4
  %5999 = call float @llvm.fma.f32(float %5996, float %5997, float %5998)
  store float %5999, ptr %local460, align 4
  %6000 = load float, ptr %local214, align 4
  %6001 = load float, ptr %local320, align 4
  %6002 = load float, ptr %local468, align 4
  %6003 = call float @llvm.fma.f32(float %6000, float %6001, float %6002)
  store float %6003, ptr %local468, align 4
  %6004 = load float, ptr %local214, align 4
  %6005 = load float, ptr %local321, align 4
  %6006 = load float, ptr %local476, align 4
  %6007 = call float @llvm.fma.f32(float %6004, float %6005, float %6006)
  store float %6007, ptr %local476, align 4
  %6008 = load float, ptr %local214, align 4
  %6009 = load float, ptr %local322, align 4
  %6010 = load float, ptr %local484, align 4
  %6011 = call float @llvm.fma.f32(float %6008, float %6009, float %6010)
  store float %6011, ptr %local484, align 4
  %6012 = load float, ptr %local215, align 4
  %6013 = load float, ptr %local3, align 4
  %6014 = load float, ptr %local429, align 4
  %6015 = call float @llvm.fma.f32(float %6012, float %6013, float %6014)
  store float %6015, ptr %local429, align 4
  %6016 = load float, ptr %local215, align 4
  %6017 = load float, ptr %local316, align 4
  %6018 = load float, ptr %local437, align 4
  %6019 = call float @llvm.fma.f32(float %6016, float %6017, float %6018)
  store float %6019, ptr %local437, align 4
  %6020 = load float, ptr %local215, align 4
  %6021 = load float, ptr %local317, align 4
  %6022 = load float, ptr %local445, align 4
  %6023 = call float @llvm.fma.f32(float %6020, float %6021, float %6022)
  store float %6023, ptr %local445, align 4
  %6024 = load float, ptr %local215, align 4
  %6025 = load float, ptr %local318, align 4
  %6026 = load float, ptr %local453, align 4
  %6027 = call float @llvm.fma.f32(float %6024, float %6025, float %6026)
  store float %6027, ptr %local453, align 4
  %6028 = load float, ptr %local215, align 4
  %6029 = load float, ptr %local319, align 4
  %6030 = load float, ptr %local461, align 4
  %6031 = call float @llvm.fma.f32(float %6028, float %6029, float %6030)
  store float %6031, ptr %local461, align 4
  %6032 = load float, ptr %local215, align 4
  %6033 = load float, ptr %local320, align 4
  %6034 = load float, ptr %local469, align 4
  %6035 = call float @llvm.fma.f32(float %6032, float %6033, float %6034)
  store float %6035, ptr %local469, align 4
  %6036 = load float, ptr %local215, align 4
  %6037 = load float, ptr %local321, align 4
  %6038 = load float, ptr %local477, align 4
  %6039 = call float @llvm.fma.f32(float %6036, float %6037, float %6038)
  store float %6039, ptr %local477, align 4
  %6040 = load float, ptr %local215, align 4
  %6041 = load float, ptr %local322, align 4
  %6042 = load float, ptr %local485, align 4
  %6043 = call float @llvm.fma.f32(float %6040, float %6041, float %6042)
  store float %6043, ptr %local485, align 4
  %6044 = mul nsw i32 %212, 2112
  %6045 = add nsw i32 1848, %6044
  %6046 = mul nsw i32 %10, 4
  %6047 = add nsw i32 %6045, %6046
  %6048 = add i32 %6044, %6046
  %6049 = mul nsw i32 %6047, 4
  %6050 = mul i32 %6048, 4
  %6051 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6050
  %6052 = getelementptr i8, ptr addrspace(3) %6051, i64 7392
  %6053 = load <4 x float>, ptr addrspace(3) %6052, align 16
  %6054 = extractelement <4 x float> %6053, i32 0
  %6055 = extractelement <4 x float> %6053, i32 1
  %6056 = extractelement <4 x float> %6053, i32 2
  %6057 = extractelement <4 x float> %6053, i32 3
  %6058 = insertelement <4 x float> undef, float %6054, i32 0
  %6059 = insertelement <4 x float> %6058, float %6055, i32 1
  %6060 = insertelement <4 x float> %6059, float %6056, i32 2
  %6061 = insertelement <4 x float> %6060, float %6057, i32 3
  store float %6054, ptr %local2, align 4
  store float %6055, ptr %local29, align 4
  store float %6056, ptr %local210, align 4
  store float %6057, ptr %local211, align 4
  %6062 = mul nsw i32 %212, 2112
  %6063 = add nsw i32 1848, %6062
  %6064 = add nsw i32 16, %10
  %6065 = mul nsw i32 %6064, 4
  %6066 = mul i32 %10, 4
  %6067 = add nsw i32 %6063, %6065
  %6068 = add i32 %6062, %6066
  %6069 = mul nsw i32 %6067, 4
  %6070 = mul i32 %6068, 4
  %6071 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6070
  %6072 = getelementptr i8, ptr addrspace(3) %6071, i64 7648
  %6073 = load <4 x float>, ptr addrspace(3) %6072, align 16
  %6074 = extractelement <4 x float> %6073, i32 0
  %6075 = extractelement <4 x float> %6073, i32 1
  %6076 = extractelement <4 x float> %6073, i32 2
  %6077 = extractelement <4 x float> %6073, i32 3
  %6078 = insertelement <4 x float> undef, float %6074, i32 0
  %6079 = insertelement <4 x float> %6078, float %6075, i32 1
  %6080 = insertelement <4 x float> %6079, float %6076, i32 2
  %6081 = insertelement <4 x float> %6080, float %6077, i32 3
  store float %6074, ptr %local212, align 4
  store float %6075, ptr %local213, align 4
  store float %6076, ptr %local214, align 4
  store float %6077, ptr %local215, align 4
  %6082 = mul nsw i32 %212, 2048
  %6083 = add nsw i32 1792, %6082
  %6084 = mul nsw i32 %9, 4
  %6085 = add nsw i32 %6083, %6084
  %6086 = add i32 %6082, %6084
  %6087 = mul nsw i32 %6085, 4
  %6088 = mul i32 %6086, 4
  %6089 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %6088
  %6090 = getelementptr i8, ptr addrspace(3) %6089, i64 7168
  %6091 = load <4 x float>, ptr addrspace(3) %6090, align 16
  %6092 = extractelement <4 x float> %6091, i32 0
  %6093 = extractelement <4 x float> %6091, i32 1
  %6094 = extractelement <4 x float> %6091, i32 2
  %6095 = extractelement <4 x float> %6091, i32 3
  %6096 = insertelement <4 x float> undef, float %6092, i32 0
  %6097 = insertelement <4 x float> %6096, float %6093, i32 1
  %6098 = insertelement <4 x float> %6097, float %6094, i32 2
  %6099 = insertelement <4 x float> %6098, float %6095, i32 3
  store float %6092, ptr %local3, align 4
  store float %6093, ptr %local316, align 4
  store float %6094, ptr %local317, align 4
  store float %6095, ptr %local318, align 4
  %6100 = mul nsw i32 %212, 2048
  %6101 = add nsw i32 1792, %6100
  %6102 = add nsw i32 16, %9
  %6103 = mul nsw i32 %6102, 4
  %6104 = mul i32 %9, 4
  %6105 = add nsw i32 %6101, %6103
  %6106 = add i32 %6100, %6104
  %6107 = mul nsw i32 %6105, 4
  %6108 = mul i32 %6106, 4
  %6109 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %6108
  %6110 = getelementptr i8, ptr addrspace(3) %6109, i64 7424
  %6111 = load <4 x float>, ptr addrspace(3) %6110, align 16
  %6112 = extractelement <4 x float> %6111, i32 0
  %6113 = extractelement <4 x float> %6111, i32 1
  %6114 = extractelement <4 x float> %6111, i32 2
  %6115 = extractelement <4 x float> %6111, i32 3
  %6116 = insertelement <4 x float> undef, float %6112, i32 0
  %6117 = insertelement <4 x float> %6116, float %6113, i32 1
  %6118 = insertelement <4 x float> %6117, float %6114, i32 2
  %6119 = insertelement <4 x float> %6118, float %6115, i32 3
  store float %6112, ptr %local319, align 4
  store float %6113, ptr %local320, align 4
  store float %6114, ptr %local321, align 4
  store float %6115, ptr %local322, align 4
  %6120 = load float, ptr %local2, align 4
  %6121 = load float, ptr %local3, align 4
  %6122 = load float, ptr %local4, align 4
  %6123 = call float @llvm.fma.f32(float %6120, float %6121, float %6122)
  store float %6123, ptr %local4, align 4
  %6124 = load float, ptr %local2, align 4
  %6125 = load float, ptr %local316, align 4
  %6126 = load float, ptr %local430, align 4
  %6127 = call float @llvm.fma.f32(float %6124, float %6125, float %6126)
  store float %6127, ptr %local430, align 4
  %6128 = load float, ptr %local2, align 4
  %6129 = load float, ptr %local317, align 4
  %6130 = load float, ptr %local438, align 4
  %6131 = call float @llvm.fma.f32(float %6128, float %6129, float %6130)
  store float %6131, ptr %local438, align 4
  %6132 = load float, ptr %local2, align 4
  %6133 = load float, ptr %local318, align 4
  %6134 = load float, ptr %local446, align 4
  %6135 = call float @llvm.fma.f32(float %6132, float %6133, float %6134)
  store float %6135, ptr %local446, align 4
  %6136 = load float, ptr %local2, align 4
  %6137 = load float, ptr %local319, align 4
  %6138 = load float, ptr %local454, align 4
  %6139 = call float @llvm.fma.f32(float %6136, float %6137, float %6138)
  store float %6139, ptr %local454, align 4
  %6140 = load float, ptr %local2, align 4
  %6141 = load float, ptr %local320, align 4
  %6142 = load float, ptr %local462, align 4
  %6143 = call float @llvm.fma.f32(float %6140, float %6141, float %6142)
  store float %6143, ptr %local462, align 4
  %6144 = load float, ptr %local2, align 4
  %6145 = load float, ptr %local321, align 4
  %6146 = load float, ptr %local470, align 4
  %6147 = call float @llvm.fma.f32(float %6144, float %6145, float %6146)
  store float %6147, ptr %local470, align 4
  %6148 = load float, ptr %local2, align 4
  %6149 = load float, ptr %local322, align 4
  %6150 = load float, ptr %local478, align 4
  %6151 = call float @llvm.fma.f32(float %6148, float %6149, float %6150)
  store float %6151, ptr %local478, align 4
  %6152 = load float, ptr %local29, align 4
  %6153 = load float, ptr %local3, align 4
  %6154 = load float, ptr %local423, align 4
  %6155 = call float @llvm.fma.f32(float %6152, float %6153, float %6154)
  store float %6155, ptr %local423, align 4
  %6156 = load float, ptr %local29, align 4
  %6157 = load float, ptr %local316, align 4
  %6158 = load float, ptr %local431, align 4
  %6159 = call float @llvm.fma.f32(float %6156, float %6157, float %6158)
  store float %6159, ptr %local431, align 4
  %6160 = load float, ptr %local29, align 4
  %6161 = load float, ptr %local317, align 4
  %6162 = load float, ptr %local439, align 4
  %6163 = call float @llvm.fma.f32(float %6160, float %6161, float %6162)
  store float %6163, ptr %local439, align 4
  %6164 = load float, ptr %local29, align 4
  %6165 = load float, ptr %local318, align 4
  %6166 = load float, ptr %local447, align 4
  %6167 = call float @llvm.fma.f32(float %6164, float %6165, float %6166)
  store float %6167, ptr %local447, align 4
  %6168 = load float, ptr %local29, align 4
  %6169 = load float, ptr %local319, align 4
  %6170 = load float, ptr %local455, align 4
  %6171 = call float @llvm.fma.f32(float %6168, float %6169, float %6170)
  store float %6171, ptr %local455, align 4
  %6172 = load float, ptr %local29, align 4
  %6173 = load float, ptr %local320, align 4
  %6174 = load float, ptr %local463, align 4
  %6175 = call float @llvm.fma.f32(float %6172, float %6173, float %6174)
  store float %6175, ptr %local463, align 4
  %6176 = load float, ptr %local29, align 4
  %6177 = load float, ptr %local321, align 4
  %6178 = load float, ptr %local471, align 4
  %6179 = call float @llvm.fma.f32(float %6176, float %6177, float %6178)
  store float %6179, ptr %local471, align 4
  %6180 = load float, ptr %local29, align 4
  %6181 = load float, ptr %local322, align 4
  %6182 = load float, ptr %local479, align 4
  %6183 = call float @llvm.fma.f32(float %6180, float %6181, float %6182)
  store float %6183, ptr %local479, align 4
  %6184 = load float, ptr %local210, align 4
  %6185 = load float, ptr %local3, align 4
  %6186 = load float, ptr %local424, align 4
  %6187 = call float @llvm.fma.f32(float %6184, float %6185, float %6186)
  store float %6187, ptr %local424, align 4
  %6188 = load float, ptr %local210, align 4
  %6189 = load float, ptr %local316, align 4
  %6190 = load float, ptr %local432, align 4
  %6191 = call float @llvm.fma.f32(float %6188, float %6189, float %6190)
  store float %6191, ptr %local432, align 4
  %6192 = load float, ptr %local210, align 4
  %6193 = load float, ptr %local317, align 4
  %6194 = load float, ptr %local440, align 4
  %6195 = call float @llvm.fma.f32(float %6192, float %6193, float %6194)
  store float %6195, ptr %local440, align 4
  %6196 = load float, ptr %local210, align 4
  %6197 = load float, ptr %local318, align 4
  %6198 = load float, ptr %local448, align 4
  %6199 = call float @llvm.fma.f32(float %6196, float %6197, float %6198)
  store float %6199, ptr %local448, align 4
  %6200 = load float, ptr %local210, align 4
  %6201 = load float, ptr %local319, align 4
  %6202 = load float, ptr %local456, align 4
  %6203 = call float @llvm.fma.f32(float %6200, float %6201, float %6202)
  store float %6203, ptr %local456, align 4
  %6204 = load float, ptr %local210, align 4
  %6205 = load float, ptr %local320, align 4
  %6206 = load float, ptr %local464, align 4
  %6207 = call float @llvm.fma.f32(float %6204, float %6205, float %6206)
  store float %6207, ptr %local464, align 4
  %6208 = load float, ptr %local210, align 4
  %6209 = load float, ptr %local321, align 4
  %6210 = load float, ptr %local472, align 4
  %6211 = call float @llvm.fma.f32(float %6208, float %6209, float %6210)
  store float %6211, ptr %local472, align 4
  %6212 = load float, ptr %local210, align 4
  %6213 = load float, ptr %local322, align 4
  %6214 = load float, ptr %local480, align 4
  %6215 = call float @llvm.fma.f32(float %6212, float %6213, float %6214)
  store float %6215, ptr %local480, align 4
  %6216 = load float, ptr %local211, align 4
  %6217 = load float, ptr %local3, align 4
  %6218 = load float, ptr %local425, align 4
  %6219 = call float @llvm.fma.f32(float %6216, float %6217, float %6218)
  store float %6219, ptr %local425, align 4
  %6220 = load float, ptr %local211, align 4
  %6221 = load float, ptr %local316, align 4
  %6222 = load float, ptr %local433, align 4
  %6223 = call float @llvm.fma.f32(float %6220, float %6221, float %6222)
  store float %6223, ptr %local433, align 4
  %6224 = load float, ptr %local211, align 4
  %6225 = load float, ptr %local317, align 4
  %6226 = load float, ptr %local441, align 4
  %6227 = call float @llvm.fma.f32(float %6224, float %6225, float %6226)
  store float %6227, ptr %local441, align 4
  %6228 = load float, ptr %local211, align 4
  %6229 = load float, ptr %local318, align 4
  %6230 = load float, ptr %local449, align 4
  %6231 = call float @llvm.fma.f32(float %6228, float %6229, float %6230)
  store float %6231, ptr %local449, align 4
  %6232 = load float, ptr %local211, align 4
  %6233 = load float, ptr %local319, align 4
  %6234 = load float, ptr %local457, align 4
  %6235 = call float @llvm.fma.f32(float %6232, float %6233, float %6234)
  store float %6235, ptr %local457, align 4
  %6236 = load float, ptr %local211, align 4
  %6237 = load float, ptr %local320, align 4
  %6238 = load float, ptr %local465, align 4
  %6239 = call float @llvm.fma.f32(float %6236, float %6237, float %6238)
  store float %6239, ptr %local465, align 4
  %6240 = load float, ptr %local211, align 4
  %6241 = load float, ptr %local321, align 4
  %6242 = load float, ptr %local473, align 4
  %6243 = call float @llvm.fma.f32(float %6240, float %6241, float %6242)
  store float %6243, ptr %local473, align 4
  %6244 = load float, ptr %local211, align 4
  %6245 = load float, ptr %local322, align 4
  %6246 = load float, ptr %local481, align 4
  %6247 = call float @llvm.fma.f32(float %6244, float %6245, float %6246)
  store float %6247, ptr %local481, align 4
  %6248 = load float, ptr %local212, align 4
  %6249 = load float, ptr %local3, align 4
  %6250 = load float, ptr %local426, align 4
  %6251 = call float @llvm.fma.f32(float %6248, float %6249, float %6250)
  store float %6251, ptr %local426, align 4
  %6252 = load float, ptr %local212, align 4
  %6253 = load float, ptr %local316, align 4
  %6254 = load float, ptr %local434, align 4
  %6255 = call float @llvm.fma.f32(float %6252, float %6253, float %6254)
  store float %6255, ptr %local434, align 4
  %6256 = load float, ptr %local212, align 4
  %6257 = load float, ptr %local317, align 4
  %6258 = load float, ptr %local442, align 4
  %6259 = call float @llvm.fma.f32(float %6256, float %6257, float %6258)
  store float %6259, ptr %local442, align 4
  %6260 = load float, ptr %local212, align 4
  %6261 = load float, ptr %local318, align 4
  %6262 = load float, ptr %local450, align 4
  %6263 = call float @llvm.fma.f32(float %6260, float %6261, float %6262)
  store float %6263, ptr %local450, align 4
  %6264 = load float, ptr %local212, align 4
  %6265 = load float, ptr %local319, align 4
  %6266 = load float, ptr %local458, align 4
  %6267 = call float @llvm.fma.f32(float %6264, float %6265, float %6266)
  store float %6267, ptr %local458, align 4
  %6268 = load float, ptr %local212, align 4
  %6269 = load float, ptr %local320, align 4
  %6270 = load float, ptr %local466, align 4
  %6271 = call float @llvm.fma.f32(float %6268, float %6269, float %6270)
  store float %6271, ptr %local466, align 4
  %6272 = load float, ptr %local212, align 4
  %6273 = load float, ptr %local321, align 4
  %6274 = load float, ptr %local474, align 4
  %6275 = call float @llvm.fma.f32(float %6272, float %6273, float %6274)
  store float %6275, ptr %local474, align 4
  %6276 = load float, ptr %local212, align 4
  %6277 = load float, ptr %local322, align 4
  %6278 = load float, ptr %local482, align 4
  %6279 = call float @llvm.fma.f32(float %6276, float %6277, float %6278)
  store float %6279, ptr %local482, align 4
  %6280 = load float, ptr %local213, align 4
  %6281 = load float, ptr %local3, align 4
  %6282 = load float, ptr %local427, align 4
  %6283 = call float @llvm.fma.f32(float %6280, float %6281, float %6282)
  store float %6283, ptr %local427, align 4
  %6284 = load float, ptr %local213, align 4
  %6285 = load float, ptr %local316, align 4
  %6286 = load float, ptr %local435, align 4
  %6287 = call float @llvm.fma.f32(float %6284, float %6285, float %6286)
  store float %6287, ptr %local435, align 4
  %6288 = load float, ptr %local213, align 4
  %6289 = load float, ptr %local317, align 4
  %6290 = load float, ptr %local443, align 4
  %6291 = call float @llvm.fma.f32(float %6288, float %6289, float %6290)
  store float %6291, ptr %local443, align 4
  %6292 = load float, ptr %local213, align 4
  %6293 = load float, ptr %local318, align 4
  %6294 = load float, ptr %local451, align 4
  %6295 = call float @llvm.fma.f32(float %6292, float %6293, float %6294)
  store float %6295, ptr %local451, align 4
  %6296 = load float, ptr %local213, align 4
  %6297 = load float, ptr %local319, align 4
  %6298 = load float, ptr %local459, align 4
  %6299 = call float @llvm.fma.f32(float %6296, float %6297, float %6298)
  store float %6299, ptr %local459, align 4
  %6300 = load float, ptr %local213, align 4
  %6301 = load float, ptr %local320, align 4
  %6302 = load float, ptr %local467, align 4
  %6303 = call float @llvm.fma.f32(float %6300, float %6301, float %6302)
  store float %6303, ptr %local467, align 4
  %6304 = load float, ptr %local213, align 4
  %6305 = load float, ptr %local321, align 4
  %6306 = load float, ptr %local475, align 4
  %6307 = call float @llvm.fma.f32(float %6304, float %6305, float %6306)
  store float %6307, ptr %local475, align 4
  %6308 = load float, ptr %local213, align 4
  %6309 = load float, ptr %local322, align 4
  %6310 = load float, ptr %local483, align 4
  %6311 = call float @llvm.fma.f32(float %6308, float %6309, float %6310)
  store float %6311, ptr %local483, align 4
  %6312 = load float, ptr %local214, align 4
  %6313 = load float, ptr %local3, align 4
  %6314 = load float, ptr %local428, align 4
  %6315 = call float @llvm.fma.f32(float %6312, float %6313, float %6314)
  store float %6315, ptr %local428, align 4
  %6316 = load float, ptr %local214, align 4
  %6317 = load float, ptr %local316, align 4
  %6318 = load float, ptr %local436, align 4
  %6319 = call float @llvm.fma.f32(float %6316, float %6317, float %6318)
  store float %6319, ptr %local436, align 4
  %6320 = load float, ptr %local214, align 4
  %6321 = load float, ptr %local317, align 4
  %6322 = load float, ptr %local444, align 4
  %6323 = call float @llvm.fma.f32(float %6320, float %6321, float %6322)
  store float %6323, ptr %local444, align 4
  %6324 = load float, ptr %local214, align 4
  %6325 = load float, ptr %local318, align 4
  %6326 = load float, ptr %local452, align 4
  %6327 = call float @llvm.fma.f32(float %6324, float %6325, float %6326)
  store float %6327, ptr %local452, align 4
  %6328 = load float, ptr %local214, align 4
  %6329 = load float, ptr %local319, align 4
  %6330 = load float, ptr %local460, align 4
  %6331 = call float @llvm.fma.f32(float %6328, float %6329, float %6330)
  store float %6331, ptr %local460, align 4
  %6332 = load float, ptr %local214, align 4
  %6333 = load float, ptr %local320, align 4
  %6334 = load float, ptr %local468, align 4
  %6335 = call float @llvm.fma.f32(float %6332, float %6333, float %6334)
  store float %6335, ptr %local468, align 4
  %6336 = load float, ptr %local214, align 4
  %6337 = load float, ptr %local321, align 4
  %6338 = load float, ptr %local476, align 4
  %6339 = call float @llvm.fma.f32(float %6336, float %6337, float %6338)
  store float %6339, ptr %local476, align 4
  %6340 = load float, ptr %local214, align 4
  %6341 = load float, ptr %local322, align 4
  %6342 = load float, ptr %local484, align 4
  %6343 = call float @llvm.fma.f32(float %6340, float %6341, float %6342)
  store float %6343, ptr %local484, align 4
  %6344 = load float, ptr %local215, align 4
  %6345 = load float, ptr %local3, align 4
  %6346 = load float, ptr %local429, align 4
  %6347 = call float @llvm.fma.f32(float %6344, float %6345, float %6346)
  store float %6347, ptr %local429, align 4
  %6348 = load float, ptr %local215, align 4
  %6349 = load float, ptr %local316, align 4
  %6350 = load float, ptr %local437, align 4
  %6351 = call float @llvm.fma.f32(float %6348, float %6349, float %6350)
  store float %6351, ptr %local437, align 4
  %6352 = load float, ptr %local215, align 4
  %6353 = load float, ptr %local317, align 4
  %6354 = load float, ptr %local445, align 4
  %6355 = call float @llvm.fma.f32(float %6352, float %6353, float %6354)
  store float %6355, ptr %local445, align 4
  %6356 = load float, ptr %local215, align 4
  %6357 = load float, ptr %local318, align 4
  %6358 = load float, ptr %local453, align 4
  %6359 = call float @llvm.fma.f32(float %6356, float %6357, float %6358)
  store float %6359, ptr %local453, align 4
  %6360 = load float, ptr %local215, align 4
  %6361 = load float, ptr %local319, align 4
  %6362 = load float, ptr %local461, align 4
  %6363 = call float @llvm.fma.f32(float %6360, float %6361, float %6362)
  store float %6363, ptr %local461, align 4
  %6364 = load float, ptr %local215, align 4
  %6365 = load float, ptr %local320, align 4
  %6366 = load float, ptr %local469, align 4
  %6367 = call float @llvm.fma.f32(float %6364, float %6365, float %6366)
  store float %6367, ptr %local469, align 4
  %6368 = load float, ptr %local215, align 4
  %6369 = load float, ptr %local321, align 4
  %6370 = load float, ptr %local477, align 4
  %6371 = call float @llvm.fma.f32(float %6368, float %6369, float %6370)
  store float %6371, ptr %local477, align 4
  %6372 = load float, ptr %local215, align 4
  %6373 = load float, ptr %local322, align 4
  %6374 = load float, ptr %local485, align 4
  %6375 = call float @llvm.fma.f32(float %6372, float %6373, float %6374)
  store float %6375, ptr %local485, align 4
  %6376 = mul nsw i32 %212, 2112
  %6377 = add nsw i32 1980, %6376
  %6378 = mul nsw i32 %10, 4
  %6379 = add nsw i32 %6377, %6378
  %6380 = add i32 %6376, %6378
  %6381 = mul nsw i32 %6379, 4
  %6382 = mul i32 %6380, 4
  %6383 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6382
  %6384 = getelementptr i8, ptr addrspace(3) %6383, i64 7920
  %6385 = load <4 x float>, ptr addrspace(3) %6384, align 16
  %6386 = extractelement <4 x float> %6385, i32 0
  %6387 = extractelement <4 x float> %6385, i32 1
  %6388 = extractelement <4 x float> %6385, i32 2
  %6389 = extractelement <4 x float> %6385, i32 3
  %6390 = insertelement <4 x float> undef, float %6386, i32 0
  %6391 = insertelement <4 x float> %6390, float %6387, i32 1
  %6392 = insertelement <4 x float> %6391, float %6388, i32 2
  %6393 = insertelement <4 x float> %6392, float %6389, i32 3
  store float %6386, ptr %local2, align 4
  store float %6387, ptr %local29, align 4
  store float %6388, ptr %local210, align 4
  store float %6389, ptr %local211, align 4
  %6394 = mul nsw i32 %212, 2112
  %6395 = add nsw i32 1980, %6394
  %6396 = add nsw i32 16, %10
  %6397 = mul nsw i32 %6396, 4
  %6398 = mul i32 %10, 4
  %6399 = add nsw i32 %6395, %6397
  %6400 = add i32 %6394, %6398
  %6401 = mul nsw i32 %6399, 4
  %6402 = mul i32 %6400, 4
  %6403 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6402
  %6404 = getelementptr i8, ptr addrspace(3) %6403, i64 8176
  %6405 = load <4 x float>, ptr addrspace(3) %6404, align 16
  %6406 = extractelement <4 x float> %6405, i32 0
  %6407 = extractelement <4 x float> %6405, i32 1
  %6408 = extractelement <4 x float> %6405, i32 2
  %6409 = extractelement <4 x float> %6405, i32 3
  %6410 = insertelement <4 x float> undef, float %6406, i32 0
  %6411 = insertelement <4 x float> %6410, float %6407, i32 1
  %6412 = insertelement <4 x float> %6411, float %6408, i32 2
  %6413 = insertelement <4 x float> %6412, float %6409, i32 3
  store float %6406, ptr %local212, align 4
  store float %6407, ptr %local213, align 4
  store float %6408, ptr %local214, align 4
  store float %6409, ptr %local215, align 4
  %6414 = mul nsw i32 %212, 2048
  %6415 = add nsw i32 1920, %6414
  %6416 = mul nsw i32 %9, 4
  %6417 = add nsw i32 %6415, %6416
  %6418 = add i32 %6414, %6416
  %6419 = mul nsw i32 %6417, 4
  %6420 = mul i32 %6418, 4
  %6421 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %6420
  %6422 = getelementptr i8, ptr addrspace(3) %6421, i64 7680
  %6423 = load <4 x float>, ptr addrspace(3) %6422, align 16
  %6424 = extractelement <4 x float> %6423, i32 0
  %6425 = extractelement <4 x float> %6423, i32 1
  %6426 = extractelement <4 x float> %6423, i32 2
  %6427 = extractelement <4 x float> %6423, i32 3
  %6428 = insertelement <4 x float> undef, float %6424, i32 0
  %6429 = insertelement <4 x float> %6428, float %6425, i32 1
  %6430 = insertelement <4 x float> %6429, float %6426, i32 2
  %6431 = insertelement <4 x float> %6430, float %6427, i32 3
  store float %6424, ptr %local3, align 4
  store float %6425, ptr %local316, align 4
  store float %6426, ptr %local317, align 4
  store float %6427, ptr %local318, align 4
  %6432 = mul nsw i32 %212, 2048
  %6433 = add nsw i32 1920, %6432
  %6434 = add nsw i32 16, %9
  %6435 = mul nsw i32 %6434, 4
  %6436 = mul i32 %9, 4
  %6437 = add nsw i32 %6433, %6435
  %6438 = add i32 %6432, %6436
  %6439 = mul nsw i32 %6437, 4
  %6440 = mul i32 %6438, 4
  %6441 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %6440
  %6442 = getelementptr i8, ptr addrspace(3) %6441, i64 7936
  %6443 = load <4 x float>, ptr addrspace(3) %6442, align 16
  %6444 = extractelement <4 x float> %6443, i32 0
  %6445 = extractelement <4 x float> %6443, i32 1
  %6446 = extractelement <4 x float> %6443, i32 2
  %6447 = extractelement <4 x float> %6443, i32 3
  %6448 = insertelement <4 x float> undef, float %6444, i32 0
  %6449 = insertelement <4 x float> %6448, float %6445, i32 1
  %6450 = insertelement <4 x float> %6449, float %6446, i32 2
  %6451 = insertelement <4 x float> %6450, float %6447, i32 3
  store float %6444, ptr %local319, align 4
  store float %6445, ptr %local320, align 4
  store float %6446, ptr %local321, align 4
  store float %6447, ptr %local322, align 4
  %6452 = load float, ptr %local2, align 4
  %6453 = load float, ptr %local3, align 4
  %6454 = load float, ptr %local4, align 4
  %6455 = call float @llvm.fma.f32(float %6452, float %6453, float %6454)
  store float %6455, ptr %local4, align 4
  %6456 = load float, ptr %local2, align 4
  %6457 = load float, ptr %local316, align 4
  %6458 = load float, ptr %local430, align 4
  %6459 = call float @llvm.fma.f32(float %6456, float %6457, float %6458)
  store float %6459, ptr %local430, align 4
  %6460 = load float, ptr %local2, align 4
  %6461 = load float, ptr %local317, align 4
  %6462 = load float, ptr %local438, align 4
  %6463 = call float @llvm.fma.f32(float %6460, float %6461, float %6462)
  store float %6463, ptr %local438, align 4
  %6464 = load float, ptr %local2, align 4
  %6465 = load float, ptr %local318, align 4
  %6466 = load float, ptr %local446, align 4
  %6467 = call float @llvm.fma.f32(float %6464, float %6465, float %6466)
  store float %6467, ptr %local446, align 4
  %6468 = load float, ptr %local2, align 4
  %6469 = load float, ptr %local319, align 4
  %6470 = load float, ptr %local454, align 4
  %6471 = call float @llvm.fma.f32(float %6468, float %6469, float %6470)
  store float %6471, ptr %local454, align 4
  %6472 = load float, ptr %local2, align 4
  %6473 = load float, ptr %local320, align 4
  %6474 = load float, ptr %local462, align 4
  %6475 = call float @llvm.fma.f32(float %6472, float %6473, float %6474)
  store float %6475, ptr %local462, align 4
  %6476 = load float, ptr %local2, align 4
  %6477 = load float, ptr %local321, align 4
  %6478 = load float, ptr %local470, align 4
  %6479 = call float @llvm.fma.f32(float %6476, float %6477, float %6478)
  store float %6479, ptr %local470, align 4
  %6480 = load float, ptr %local2, align 4
  %6481 = load float, ptr %local322, align 4
  %6482 = load float, ptr %local478, align 4
  %6483 = call float @llvm.fma.f32(float %6480, float %6481, float %6482)
  store float %6483, ptr %local478, align 4
  %6484 = load float, ptr %local29, align 4
  %6485 = load float, ptr %local3, align 4
  %6486 = load float, ptr %local423, align 4
  %6487 = call float @llvm.fma.f32(float %6484, float %6485, float %6486)
  store float %6487, ptr %local423, align 4
  %6488 = load float, ptr %local29, align 4
  %6489 = load float, ptr %local316, align 4
  %6490 = load float, ptr %local431, align 4
  %6491 = call float @llvm.fma.f32(float %6488, float %6489, float %6490)
  store float %6491, ptr %local431, align 4
  %6492 = load float, ptr %local29, align 4
  %6493 = load float, ptr %local317, align 4
  %6494 = load float, ptr %local439, align 4
  %6495 = call float @llvm.fma.f32(float %6492, float %6493, float %6494)
  store float %6495, ptr %local439, align 4
  %6496 = load float, ptr %local29, align 4
  %6497 = load float, ptr %local318, align 4
  %6498 = load float, ptr %local447, align 4
  %6499 = call float @llvm.fma.f32(float %6496, float %6497, float %6498)
  store float %6499, ptr %local447, align 4
  %6500 = load float, ptr %local29, align 4
  %6501 = load float, ptr %local319, align 4
  %6502 = load float, ptr %local455, align 4
  %6503 = call float @llvm.fma.f32(float %6500, float %6501, float %6502)
  store float %6503, ptr %local455, align 4
  %6504 = load float, ptr %local29, align 4
  %6505 = load float, ptr %local320, align 4
  %6506 = load float, ptr %local463, align 4
  %6507 = call float @llvm.fma.f32(float %6504, float %6505, float %6506)
  store float %6507, ptr %local463, align 4
  %6508 = load float, ptr %local29, align 4
  %6509 = load float, ptr %local321, align 4
  %6510 = load float, ptr %local471, align 4
  %6511 = call float @llvm.fma.f32(float %6508, float %6509, float %6510)
  store float %6511, ptr %local471, align 4
  %6512 = load float, ptr %local29, align 4
  %6513 = load float, ptr %local322, align 4
  %6514 = load float, ptr %local479, align 4
  %6515 = call float @llvm.fma.f32(float %6512, float %6513, float %6514)
  store float %6515, ptr %local479, align 4
  %6516 = load float, ptr %local210, align 4
  %6517 = load float, ptr %local3, align 4
  %6518 = load float, ptr %local424, align 4
  %6519 = call float @llvm.fma.f32(float %6516, float %6517, float %6518)
  store float %6519, ptr %local424, align 4
  %6520 = load float, ptr %local210, align 4
  %6521 = load float, ptr %local316, align 4
  %6522 = load float, ptr %local432, align 4
  %6523 = call float @llvm.fma.f32(float %6520, float %6521, float %6522)
  store float %6523, ptr %local432, align 4
  %6524 = load float, ptr %local210, align 4
  %6525 = load float, ptr %local317, align 4
  %6526 = load float, ptr %local440, align 4
  %6527 = call float @llvm.fma.f32(float %6524, float %6525, float %6526)
  store float %6527, ptr %local440, align 4
  %6528 = load float, ptr %local210, align 4
  %6529 = load float, ptr %local318, align 4
  %6530 = load float, ptr %local448, align 4
  %6531 = call float @llvm.fma.f32(float %6528, float %6529, float %6530)
  store float %6531, ptr %local448, align 4
  %6532 = load float, ptr %local210, align 4
  %6533 = load float, ptr %local319, align 4
  %6534 = load float, ptr %local456, align 4
  %6535 = call float @llvm.fma.f32(float %6532, float %6533, float %6534)
  store float %6535, ptr %local456, align 4
  %6536 = load float, ptr %local210, align 4
  %6537 = load float, ptr %local320, align 4
  %6538 = load float, ptr %local464, align 4
  %6539 = call float @llvm.fma.f32(float %6536, float %6537, float %6538)
  store float %6539, ptr %local464, align 4
  %6540 = load float, ptr %local210, align 4
  %6541 = load float, ptr %local321, align 4
  %6542 = load float, ptr %local472, align 4
  %6543 = call float @llvm.fma.f32(float %6540, float %6541, float %6542)
  store float %6543, ptr %local472, align 4
  %6544 = load float, ptr %local210, align 4
  %6545 = load float, ptr %local322, align 4
  %6546 = load float, ptr %local480, align 4
  %6547 = call float @llvm.fma.f32(float %6544, float %6545, float %6546)
  store float %6547, ptr %local480, align 4
  %6548 = load float, ptr %local211, align 4
  %6549 = load float, ptr %local3, align 4
  %6550 = load float, ptr %local425, align 4
  %6551 = call float @llvm.fma.f32(float %6548, float %6549, float %6550)
  store float %6551, ptr %local425, align 4
  %6552 = load float, ptr %local211, align 4
  %6553 = load float, ptr %local316, align 4
  %6554 = load float, ptr %local433, align 4
  %6555 = call float @llvm.fma.f32(float %6552, float %6553, float %6554)
  store float %6555, ptr %local433, align 4
  %6556 = load float, ptr %local211, align 4
  %6557 = load float, ptr %local317, align 4
  %6558 = load float, ptr %local441, align 4
  %6559 = call float @llvm.fma.f32(float %6556, float %6557, float %6558)
  store float %6559, ptr %local441, align 4
  %6560 = load float, ptr %local211, align 4
  %6561 = load float, ptr %local318, align 4
  %6562 = load float, ptr %local449, align 4
  %6563 = call float @llvm.fma.f32(float %6560, float %6561, float %6562)
  store float %6563, ptr %local449, align 4
  %6564 = load float, ptr %local211, align 4
  %6565 = load float, ptr %local319, align 4
  %6566 = load float, ptr %local457, align 4
  %6567 = call float @llvm.fma.f32(float %6564, float %6565, float %6566)
  store float %6567, ptr %local457, align 4
  %6568 = load float, ptr %local211, align 4
  %6569 = load float, ptr %local320, align 4
  %6570 = load float, ptr %local465, align 4
  %6571 = call float @llvm.fma.f32(float %6568, float %6569, float %6570)
  store float %6571, ptr %local465, align 4
  %6572 = load float, ptr %local211, align 4
  %6573 = load float, ptr %local321, align 4
  %6574 = load float, ptr %local473, align 4
  %6575 = call float @llvm.fma.f32(float %6572, float %6573, float %6574)
  store float %6575, ptr %local473, align 4
  %6576 = load float, ptr %local211, align 4
  %6577 = load float, ptr %local322, align 4
  %6578 = load float, ptr %local481, align 4
  %6579 = call float @llvm.fma.f32(float %6576, float %6577, float %6578)
  store float %6579, ptr %local481, align 4
  %6580 = load float, ptr %local212, align 4
  %6581 = load float, ptr %local3, align 4
  %6582 = load float, ptr %local426, align 4
  %6583 = call float @llvm.fma.f32(float %6580, float %6581, float %6582)
  store float %6583, ptr %local426, align 4
  %6584 = load float, ptr %local212, align 4
  %6585 = load float, ptr %local316, align 4
  %6586 = load float, ptr %local434, align 4
  %6587 = call float @llvm.fma.f32(float %6584, float %6585, float %6586)
  store float %6587, ptr %local434, align 4
  %6588 = load float, ptr %local212, align 4
  %6589 = load float, ptr %local317, align 4
  %6590 = load float, ptr %local442, align 4
  %6591 = call float @llvm.fma.f32(float %6588, float %6589, float %6590)
  store float %6591, ptr %local442, align 4
  %6592 = load float, ptr %local212, align 4
  %6593 = load float, ptr %local318, align 4
  %6594 = load float, ptr %local450, align 4
  %6595 = call float @llvm.fma.f32(float %6592, float %6593, float %6594)
  store float %6595, ptr %local450, align 4
  %6596 = load float, ptr %local212, align 4
  %6597 = load float, ptr %local319, align 4
  %6598 = load float, ptr %local458, align 4
  %6599 = call float @llvm.fma.f32(float %6596, float %6597, float %6598)
  store float %6599, ptr %local458, align 4
  %6600 = load float, ptr %local212, align 4
  %6601 = load float, ptr %local320, align 4
  %6602 = load float, ptr %local466, align 4
  %6603 = call float @llvm.fma.f32(float %6600, float %6601, float %6602)
  store float %6603, ptr %local466, align 4
  %6604 = load float, ptr %local212, align 4
  %6605 = load float, ptr %local321, align 4
  %6606 = load float, ptr %local474, align 4
  %6607 = call float @llvm.fma.f32(float %6604, float %6605, float %6606)
  store float %6607, ptr %local474, align 4
  %6608 = load float, ptr %local212, align 4
  %6609 = load float, ptr %local322, align 4
  %6610 = load float, ptr %local482, align 4
  %6611 = call float @llvm.fma.f32(float %6608, float %6609, float %6610)
  store float %6611, ptr %local482, align 4
  %6612 = load float, ptr %local213, align 4
  %6613 = load float, ptr %local3, align 4
  %6614 = load float, ptr %local427, align 4
  %6615 = call float @llvm.fma.f32(float %6612, float %6613, float %6614)
  store float %6615, ptr %local427, align 4
  %6616 = load float, ptr %local213, align 4
  %6617 = load float, ptr %local316, align 4
  %6618 = load float, ptr %local435, align 4
  %6619 = call float @llvm.fma.f32(float %6616, float %6617, float %6618)
  store float %6619, ptr %local435, align 4
  %6620 = load float, ptr %local213, align 4
  %6621 = load float, ptr %local317, align 4
  %6622 = load float, ptr %local443, align 4
  %6623 = call float @llvm.fma.f32(float %6620, float %6621, float %6622)
  store float %6623, ptr %local443, align 4
  %6624 = load float, ptr %local213, align 4
  %6625 = load float, ptr %local318, align 4
  %6626 = load float, ptr %local451, align 4
  %6627 = call float @llvm.fma.f32(float %6624, float %6625, float %6626)
  store float %6627, ptr %local451, align 4
  %6628 = load float, ptr %local213, align 4
  %6629 = load float, ptr %local319, align 4
  %6630 = load float, ptr %local459, align 4
  %6631 = call float @llvm.fma.f32(float %6628, float %6629, float %6630)
  store float %6631, ptr %local459, align 4
  %6632 = load float, ptr %local213, align 4
  %6633 = load float, ptr %local320, align 4
  %6634 = load float, ptr %local467, align 4
  %6635 = call float @llvm.fma.f32(float %6632, float %6633, float %6634)
  store float %6635, ptr %local467, align 4
  %6636 = load float, ptr %local213, align 4
  %6637 = load float, ptr %local321, align 4
  %6638 = load float, ptr %local475, align 4
  %6639 = call float @llvm.fma.f32(float %6636, float %6637, float %6638)
  store float %6639, ptr %local475, align 4
  %6640 = load float, ptr %local213, align 4
  %6641 = load float, ptr %local322, align 4
  %6642 = load float, ptr %local483, align 4
  %6643 = call float @llvm.fma.f32(float %6640, float %6641, float %6642)
  store float %6643, ptr %local483, align 4
  %6644 = load float, ptr %local214, align 4
  %6645 = load float, ptr %local3, align 4
  %6646 = load float, ptr %local428, align 4
  %6647 = call float @llvm.fma.f32(float %6644, float %6645, float %6646)
  store float %6647, ptr %local428, align 4
  %6648 = load float, ptr %local214, align 4
  %6649 = load float, ptr %local316, align 4
  %6650 = load float, ptr %local436, align 4
  %6651 = call float @llvm.fma.f32(float %6648, float %6649, float %6650)
  store float %6651, ptr %local436, align 4
  %6652 = load float, ptr %local214, align 4
  %6653 = load float, ptr %local317, align 4
  %6654 = load float, ptr %local444, align 4
  %6655 = call float @llvm.fma.f32(float %6652, float %6653, float %6654)
  store float %6655, ptr %local444, align 4
  %6656 = load float, ptr %local214, align 4
  %6657 = load float, ptr %local318, align 4
  %6658 = load float, ptr %local452, align 4
  %6659 = call float @llvm.fma.f32(float %6656, float %6657, float %6658)
  store float %6659, ptr %local452, align 4
  %6660 = load float, ptr %local214, align 4
  %6661 = load float, ptr %local319, align 4
  %6662 = load float, ptr %local460, align 4
  %6663 = call float @llvm.fma.f32(float %6660, float %6661, float %6662)
  store float %6663, ptr %local460, align 4
  %6664 = load float, ptr %local214, align 4
  %6665 = load float, ptr %local320, align 4
  %6666 = load float, ptr %local468, align 4
  %6667 = call float @llvm.fma.f32(float %6664, float %6665, float %6666)
  store float %6667, ptr %local468, align 4
  %6668 = load float, ptr %local214, align 4
  %6669 = load float, ptr %local321, align 4
  %6670 = load float, ptr %local476, align 4
  %6671 = call float @llvm.fma.f32(float %6668, float %6669, float %6670)
  store float %6671, ptr %local476, align 4
  %6672 = load float, ptr %local214, align 4
  %6673 = load float, ptr %local322, align 4
  %6674 = load float, ptr %local484, align 4
  %6675 = call float @llvm.fma.f32(float %6672, float %6673, float %6674)
  store float %6675, ptr %local484, align 4
  %6676 = load float, ptr %local215, align 4
  %6677 = load float, ptr %local3, align 4
  %6678 = load float, ptr %local429, align 4
  %6679 = call float @llvm.fma.f32(float %6676, float %6677, float %6678)
  store float %6679, ptr %local429, align 4
  %6680 = load float, ptr %local215, align 4
  %6681 = load float, ptr %local316, align 4
  %6682 = load float, ptr %local437, align 4
  %6683 = call float @llvm.fma.f32(float %6680, float %6681, float %6682)
  store float %6683, ptr %local437, align 4
  %6684 = load float, ptr %local215, align 4
  %6685 = load float, ptr %local317, align 4
  %6686 = load float, ptr %local445, align 4
  %6687 = call float @llvm.fma.f32(float %6684, float %6685, float %6686)
  store float %6687, ptr %local445, align 4
  %6688 = load float, ptr %local215, align 4
  %6689 = load float, ptr %local318, align 4
  %6690 = load float, ptr %local453, align 4
  %6691 = call float @llvm.fma.f32(float %6688, float %6689, float %6690)
  store float %6691, ptr %local453, align 4
  %6692 = load float, ptr %local215, align 4
  %6693 = load float, ptr %local319, align 4
  %6694 = load float, ptr %local461, align 4
  %6695 = call float @llvm.fma.f32(float %6692, float %6693, float %6694)
  store float %6695, ptr %local461, align 4
  %6696 = load float, ptr %local215, align 4
  %6697 = load float, ptr %local320, align 4
  %6698 = load float, ptr %local469, align 4
  %6699 = call float @llvm.fma.f32(float %6696, float %6697, float %6698)
  store float %6699, ptr %local469, align 4
  %6700 = load float, ptr %local215, align 4
  %6701 = load float, ptr %local321, align 4
  %6702 = load float, ptr %local477, align 4
  %6703 = call float @llvm.fma.f32(float %6700, float %6701, float %6702)
  store float %6703, ptr %local477, align 4
  %6704 = load float, ptr %local215, align 4
  %6705 = load float, ptr %local322, align 4
  %6706 = load float, ptr %local485, align 4
  %6707 = call float @llvm.fma.f32(float %6704, float %6705, float %6706)
  store float %6707, ptr %local485, align 4
  %6708 = add nsw i64 %209, 1
  %6709 = icmp slt i64 %6708, %11
  br i1 %6709, label %then86, label %behind87

then86:                                           ; preds = %behind
  %6710 = sub nsw i32 1, %212
  %6711 = mul nsw i32 %6710, 2112
  %6712 = sub nsw i32 1, %212
  %6713 = mul nsw i32 %6712, 2048
  %6714 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6715 = lshr i32 %6714, 2
  %6716 = and i32 %6714, 3
  %6717 = mul nsw i32 %6716, 4
  %6718 = load float, ptr %local0, align 4
  %6719 = mul nsw i32 %6717, 132
  %6720 = add nsw i32 %6719, %6715
  %6721 = add nsw i32 %6711, %6720
  %6722 = mul nsw i32 %6721, 4
  %6723 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6722
  store float %6718, ptr addrspace(3) %6723, align 4
  %6724 = load float, ptr %local01, align 4
  %6725 = add nsw i32 %6717, 1
  %6726 = mul nsw i32 %6725, 132
  %6727 = mul i32 %6717, 132
  %6728 = add nsw i32 %6726, %6715
  %6729 = add i32 %6727, %6715
  %6730 = add nsw i32 %6711, %6728
  %6731 = add i32 %6711, %6729
  %6732 = mul nsw i32 %6730, 4
  %6733 = mul i32 %6731, 4
  %6734 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6733
  %6735 = getelementptr i8, ptr addrspace(3) %6734, i64 528
  store float %6724, ptr addrspace(3) %6735, align 4
  %6736 = load float, ptr %local02, align 4
  %6737 = add nsw i32 %6717, 2
  %6738 = mul nsw i32 %6737, 132
  %6739 = mul i32 %6717, 132
  %6740 = add nsw i32 %6738, %6715
  %6741 = add i32 %6739, %6715
  %6742 = add nsw i32 %6711, %6740
  %6743 = add i32 %6711, %6741
  %6744 = mul nsw i32 %6742, 4
  %6745 = mul i32 %6743, 4
  %6746 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6745
  %6747 = getelementptr i8, ptr addrspace(3) %6746, i64 1056
  store float %6736, ptr addrspace(3) %6747, align 4
  %6748 = load float, ptr %local03, align 4
  %6749 = add nsw i32 %6717, 3
  %6750 = mul nsw i32 %6749, 132
  %6751 = mul i32 %6717, 132
  %6752 = add nsw i32 %6750, %6715
  %6753 = add i32 %6751, %6715
  %6754 = add nsw i32 %6711, %6752
  %6755 = add i32 %6711, %6753
  %6756 = mul nsw i32 %6754, 4
  %6757 = mul i32 %6755, 4
  %6758 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6757
  %6759 = getelementptr i8, ptr addrspace(3) %6758, i64 1584
  store float %6748, ptr addrspace(3) %6759, align 4
  %6760 = add nsw i32 %6714, 256
  %6761 = lshr i32 %6760, 2
  %6762 = and i32 %6760, 3
  %6763 = mul nsw i32 %6762, 4
  %6764 = load float, ptr %local04, align 4
  %6765 = mul nsw i32 %6763, 132
  %6766 = add nsw i32 %6765, %6761
  %6767 = add nsw i32 %6711, %6766
  %6768 = mul nsw i32 %6767, 4
  %6769 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6768
  store float %6764, ptr addrspace(3) %6769, align 4
  %6770 = load float, ptr %local05, align 4
  %6771 = add nsw i32 %6763, 1
  %6772 = mul nsw i32 %6771, 132
  %6773 = mul i32 %6763, 132
  %6774 = add nsw i32 %6772, %6761
  %6775 = add i32 %6773, %6761
  %6776 = add nsw i32 %6711, %6774
  %6777 = add i32 %6711, %6775
  %6778 = mul nsw i32 %6776, 4
  %6779 = mul i32 %6777, 4
  %6780 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6779
  %6781 = getelementptr i8, ptr addrspace(3) %6780, i64 528
  store float %6770, ptr addrspace(3) %6781, align 4
  %6782 = load float, ptr %local06, align 4
  %6783 = add nsw i32 %6763, 2
  %6784 = mul nsw i32 %6783, 132
  %6785 = mul i32 %6763, 132
  %6786 = add nsw i32 %6784, %6761
  %6787 = add i32 %6785, %6761
  %6788 = add nsw i32 %6711, %6786
  %6789 = add i32 %6711, %6787
  %6790 = mul nsw i32 %6788, 4
  %6791 = mul i32 %6789, 4
  %6792 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6791
  %6793 = getelementptr i8, ptr addrspace(3) %6792, i64 1056
  store float %6782, ptr addrspace(3) %6793, align 4
  %6794 = load float, ptr %local07, align 4
  %6795 = add nsw i32 %6763, 3
  %6796 = mul nsw i32 %6795, 132
  %6797 = mul i32 %6763, 132
  %6798 = add nsw i32 %6796, %6761
  %6799 = add i32 %6797, %6761
  %6800 = add nsw i32 %6711, %6798
  %6801 = add i32 %6711, %6799
  %6802 = mul nsw i32 %6800, 4
  %6803 = mul i32 %6801, 4
  %6804 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared0", i32 %6803
  %6805 = getelementptr i8, ptr addrspace(3) %6804, i64 1584
  store float %6794, ptr addrspace(3) %6805, align 4
  %6806 = lshr i32 %6714, 5
  %6807 = and i32 %6714, 31
  %6808 = mul nsw i32 %6806, 128
  %6809 = mul nsw i32 %6807, 4
  %6810 = add nsw i32 %6808, %6809
  %6811 = add nsw i32 %6713, %6810
  %6812 = load <4 x float>, ptr %local1, align 16
  %6813 = extractelement <4 x float> %6812, i32 0
  %6814 = extractelement <4 x float> %6812, i32 1
  %6815 = extractelement <4 x float> %6812, i32 2
  %6816 = extractelement <4 x float> %6812, i32 3
  %6817 = insertelement <4 x float> undef, float %6813, i32 0
  %6818 = insertelement <4 x float> %6817, float %6814, i32 1
  %6819 = insertelement <4 x float> %6818, float %6815, i32 2
  %6820 = insertelement <4 x float> %6819, float %6816, i32 3
  %6821 = mul nsw i32 %6811, 4
  %6822 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %6821
  store <4 x float> %6820, ptr addrspace(3) %6822, align 16
  %6823 = add nsw i32 %6714, 256
  %6824 = lshr i32 %6823, 5
  %6825 = and i32 %6823, 31
  %6826 = mul nsw i32 %6824, 128
  %6827 = mul nsw i32 %6825, 4
  %6828 = add nsw i32 %6826, %6827
  %6829 = add nsw i32 %6713, %6828
  %6830 = load <4 x float>, ptr %local18, align 16
  %6831 = extractelement <4 x float> %6830, i32 0
  %6832 = extractelement <4 x float> %6830, i32 1
  %6833 = extractelement <4 x float> %6830, i32 2
  %6834 = extractelement <4 x float> %6830, i32 3
  %6835 = insertelement <4 x float> undef, float %6831, i32 0
  %6836 = insertelement <4 x float> %6835, float %6832, i32 1
  %6837 = insertelement <4 x float> %6836, float %6833, i32 2
  %6838 = insertelement <4 x float> %6837, float %6834, i32 3
  %6839 = mul nsw i32 %6829, 4
  %6840 = getelementptr i8, ptr addrspace(3) @"matmul_tiles$shared1", i32 %6839
  store <4 x float> %6838, ptr addrspace(3) %6840, align 16
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  br label %behind87

behind87:                                         ; preds = %then86, %behind
  br label %next
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fma.f32(float, float, float) #3

attributes #0 = { nounwind "nvvm.reqntid"="256,1,1" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
