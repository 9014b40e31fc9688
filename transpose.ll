; ModuleID = 'kernels'
source_filename = "kernels"

@"transpose_tiles$shared0" = internal addrspace(3) global [16384 x i8] undef, align 128

; Function Attrs: nounwind
define ptx_kernel void @transpose_tiles(ptr addrspace(1) noalias readonly align 4 %0, i64 %1, i64 %2, ptr addrspace(1) noalias align 4 %3) #0 {
entry:
  %local0 = alloca float, align 4
  %local01 = alloca float, align 4
  %local02 = alloca float, align 4
  %local03 = alloca float, align 4
  %local04 = alloca float, align 4
  %local05 = alloca float, align 4
  %local06 = alloca float, align 4
  %local07 = alloca float, align 4
  %4 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %8 = add i64 %2, 63
  %9 = ashr i64 %8, 6
  %10 = mul i64 64, %1
  %11 = add i64 %1, 63
  %12 = ashr i64 %11, 6
  %13 = sext i32 %5 to i64
  %14 = mul i64 %13, %10
  %15 = sext i32 %4 to i64
  %16 = mul nsw i64 %15, 64
  %17 = add i64 %14, %16
  %18 = add i64 %1, 63
  %19 = ashr i64 %18, 6
  %20 = mul i64 64, %2
  %21 = add i64 %2, 63
  %22 = ashr i64 %21, 6
  %23 = sext i32 %4 to i64
  %24 = mul i64 %23, %20
  %25 = mul nsw i32 %5, 64
  %26 = sext i32 %25 to i64
  %27 = add i64 %24, %26
  store float 0.000000e+00, ptr %local0, align 4
  store float 0.000000e+00, ptr %local01, align 4
  store float 0.000000e+00, ptr %local02, align 4
  store float 0.000000e+00, ptr %local03, align 4
  store float 0.000000e+00, ptr %local04, align 4
  store float 0.000000e+00, ptr %local05, align 4
  store float 0.000000e+00, ptr %local06, align 4
  store float 0.000000e+00, ptr %local07, align 4
  %28 = mul nsw i32 %5, 64
  %29 = add nsw i32 %28, %7
  %30 = sext i32 %29 to i64
  %31 = icmp slt i64 %30, %2
  %32 = sext i32 %4 to i64
  %33 = mul nsw i64 %32, 64
  %34 = sext i32 %6 to i64
  %35 = add nsw i64 %33, %34
  %36 = icmp slt i64 %35, %1
  %37 = and i1 %31, %36
  br i1 %37, label %then, label %behind

then:                                             ; preds = %entry
  %38 = sext i32 %7 to i64
  %39 = mul i64 %38, %1
  %40 = sext i32 %6 to i64
  %41 = add i64 %39, %40
  %42 = add i64 %17, %41
  %43 = mul i64 %42, 4
  %44 = getelementptr i8, ptr addrspace(1) %0, i64 %43
  %45 = load float, ptr addrspace(1) %44, align 4
  store float %45, ptr %local0, align 4
  br label %behind

behind:                                           ; preds = %then, %entry
  %46 = add nsw i32 %6, 32
  %47 = mul nsw i32 %5, 64
  %48 = add nsw i32 %47, %7
  %49 = sext i32 %48 to i64
  %50 = icmp slt i64 %49, %2
  %51 = sext i32 %4 to i64
  %52 = mul nsw i64 %51, 64
  %53 = sext i32 %46 to i64
  %54 = add nsw i64 %52, %53
  %55 = sext i32 %6 to i64
  %56 = add i64 %52, %55
  %57 = icmp slt i64 %54, %1
  %58 = and i1 %50, %57
  br i1 %58, label %then8, label %behind9

then8:                                            ; preds = %behind
  %59 = sext i32 %7 to i64
  %60 = mul i64 %59, %1
  %61 = sext i32 %46 to i64
  %62 = add i64 %60, %61
  %63 = sext i32 %6 to i64
  %64 = add i64 %60, %63
  %65 = add i64 %17, %62
  %66 = add i64 %17, %64
  %67 = mul i64 %65, 4
  %68 = mul i64 %66, 4
  %69 = getelementptr i8, ptr addrspace(1) %0, i64 %68
  %70 = getelementptr i8, ptr addrspace(1) %69, i64 128
  %71 = load float, ptr addrspace(1) %70, align 4
  store float %71, ptr %local04, align 4
  br label %behind9

behind9:                                          ; preds = %then8, %behind
  %72 = add nsw i32 %7, 16
  %73 = mul nsw i32 %5, 64
  %74 = add nsw i32 %73, %72
  %75 = add i32 %73, %7
  %76 = sext i32 %74 to i64
  %77 = icmp slt i64 %76, %2
  %78 = sext i32 %4 to i64
  %79 = mul nsw i64 %78, 64
  %80 = sext i32 %6 to i64
  %81 = add nsw i64 %79, %80
  %82 = icmp slt i64 %81, %1
  %83 = and i1 %77, %82
  br i1 %83, label %then10, label %behind11

then10:                                           ; preds = %behind9
  %84 = sext i32 %72 to i64
  %85 = mul i64 %84, %1
  %86 = sext i32 %6 to i64
  %87 = add i64 %85, %86
  %88 = add i64 %17, %87
  %89 = mul i64 %88, 4
  %90 = getelementptr i8, ptr addrspace(1) %0, i64 %89
  %91 = load float, ptr addrspace(1) %90, align 4
  store float %91, ptr %local01, align 4
  br label %behind11

behind11:                                         ; preds = %then10, %behind9
  %92 = add nsw i32 %7, 16
  %93 = add nsw i32 %6, 32
  %94 = mul nsw i32 %5, 64
  %95 = add nsw i32 %94, %92
  %96 = add i32 %94, %7
  %97 = sext i32 %95 to i64
  %98 = icmp slt i64 %97, %2
  %99 = sext i32 %4 to i64
  %100 = mul nsw i64 %99, 64
  %101 = sext i32 %93 to i64
  %102 = add nsw i64 %100, %101
  %103 = sext i32 %6 to i64
  %104 = add i64 %100, %103
  %105 = icmp slt i64 %102, %1
  %106 = and i1 %98, %105
  br i1 %106, label %then12, label %behind13

then12:                                           ; preds = %behind11
  %107 = sext i32 %92 to i64
  %108 = mul i64 %107, %1
  %109 = sext i32 %93 to i64
  %110 = add i64 %108, %109
  %111 = sext i32 %6 to i64
  %112 = add i64 %108, %111
  %113 = add i64 %17, %110
  %114 = add i64 %17, %112
  %115 = mul i64 %113, 4
  %116 = mul i64 %114, 4
  %117 = getelementptr i8, ptr addrspace(1) %0, i64 %116
  %118 = getelementptr i8, ptr addrspace(1) %117, i64 128
  %119 = load float, ptr addrspace(1) %118, align 4
  store float %119, ptr %local05, align 4
  br label %behind13

behind13:                                         ; preds = %then12, %behind11
  %120 = add nsw i32 %7, 32
  %121 = mul nsw i32 %5, 64
  %122 = add nsw i32 %121, %120
  %123 = add i32 %121, %7
  %124 = sext i32 %122 to i64
  %125 = icmp slt i64 %124, %2
  %126 = sext i32 %4 to i64
  %127 = mul nsw i64 %126, 64
  %128 = sext i32 %6 to i64
  %129 = add nsw i64 %127, %128
  %130 = icmp slt i64 %129, %1
  %131 = and i1 %125, %130
  br i1 %131, label %then14, label %behind15

then14:                                           ; preds = %behind13
  %132 = sext i32 %120 to i64
  %133 = mul i64 %132, %1
  %134 = sext i32 %6 to i64
  %135 = add i64 %133, %134
  %136 = add i64 %17, %135
  %137 = mul i64 %136, 4
  %138 = getelementptr i8, ptr addrspace(1) %0, i64 %137
  %139 = load float, ptr addrspace(1) %138, align 4
  store float %139, ptr %local02, align 4
  br label %behind15

behind15:                                         ; preds = %then14, %behind13
  %140 = add nsw i32 %7, 32
  %141 = add nsw i32 %6, 32
  %142 = mul nsw i32 %5, 64
  %143 = add nsw i32 %142, %140
  %144 = add i32 %142, %7
  %145 = sext i32 %143 to i64
  %146 = icmp slt i64 %145, %2
  %147 = sext i32 %4 to i64
  %148 = mul nsw i64 %147, 64
  %149 = sext i32 %141 to i64
  %150 = add nsw i64 %148, %149
  %151 = sext i32 %6 to i64
  %152 = add i64 %148, %151
  %153 = icmp slt i64 %150, %1
  %154 = and i1 %146, %153
  br i1 %154, label %then16, label %behind17

then16:                                           ; preds = %behind15
  %155 = sext i32 %140 to i64
  %156 = mul i64 %155, %1
  %157 = sext i32 %141 to i64
  %158 = add i64 %156, %157
  %159 = sext i32 %6 to i64
  %160 = add i64 %156, %159
  %161 = add i64 %17, %158
  %162 = add i64 %17, %160
  %163 = mul i64 %161, 4
  %164 = mul i64 %162, 4
  %165 = getelementptr i8, ptr addrspace(1) %0, i64 %164
  %166 = getelementptr i8, ptr addrspace(1) %165, i64 128
  %167 = load float, ptr addrspace(1) %166, align 4
  store float %167, ptr %local06, align 4
  br label %behind17

behind17:                                         ; preds = %then16, %behind15
  %168 = add nsw i32 %7, 48
  %169 = mul nsw i32 %5, 64
  %170 = add nsw i32 %169, %168
  %171 = add i32 %169, %7
  %172 = sext i32 %170 to i64
  %173 = icmp slt i64 %172, %2
  %174 = sext i32 %4 to i64
  %175 = mul nsw i64 %174, 64
  %176 = sext i32 %6 to i64
  %177 = add nsw i64 %175, %176
  %178 = icmp slt i64 %177, %1
  %179 = and i1 %173, %178
  br i1 %179, label %then18, label %behind19

then18:                                           ; preds = %behind17
  %180 = sext i32 %168 to i64
  %181 = mul i64 %180, %1
  %182 = sext i32 %6 to i64
  %183 = add i64 %181, %182
  %184 = add i64 %17, %183
  %185 = mul i64 %184, 4
  %186 = getelementptr i8, ptr addrspace(1) %0, i64 %185
  %187 = load float, ptr addrspace(1) %186, align 4
  store float %187, ptr %local03, align 4
  br label %behind19

behind19:                                         ; preds = %then18, %behind17
  %188 = add nsw i32 %7, 48
  %189 = add nsw i32 %6, 32
  %190 = mul nsw i32 %5, 64
  %191 = add nsw i32 %190, %188
  %192 = add i32 %190, %7
  %193 = sext i32 %191 to i64
  %194 = icmp slt i64 %193, %2
  %195 = sext i32 %4 to i64
  %196 = mul nsw i64 %195, 64
  %197 = sext i32 %189 to i64
  %198 = add nsw i64 %196, %197
  %199 = sext i32 %6 to i64
  %200 = add i64 %196, %199
  %201 = icmp slt i64 %198, %1
  %202 = and i1 %194, %201
  br i1 %202, label %then20, label %behind21

then20:                                           ; preds = %behind19
  %203 = sext i32 %188 to i64
  %204 = mul i64 %203, %1
  %205 = sext i32 %189 to i64
  %206 = add i64 %204, %205
  %207 = sext i32 %6 to i64
  %208 = add i64 %204, %207
  %209 = add i64 %17, %206
  %210 = add i64 %17, %208
  %211 = mul i64 %209, 4
  %212 = mul i64 %210, 4
  %213 = getelementptr i8, ptr addrspace(1) %0, i64 %212
  %214 = getelementptr i8, ptr addrspace(1) %213, i64 128
  %215 = load float, ptr addrspace(1) %214, align 4
  store float %215, ptr %local07, align 4
  br label %behind21

behind21:                                         ; preds = %then20, %behind19
  %216 = load float, ptr %local0, align 4
  %217 = mul nsw i32 %7, 64
  %218 = add nsw i32 %217, %6
  %219 = mul nsw i32 %218, 4
  %220 = and i32 %219, 7936
  %221 = ashr i32 %220, 6
  %222 = xor i32 %219, %221
  %223 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %222
  store float %216, ptr addrspace(3) %223, align 4
  %224 = load float, ptr %local04, align 4
  %225 = add nsw i32 %6, 32
  %226 = mul nsw i32 %7, 64
  %227 = add nsw i32 %226, %225
  %228 = add i32 %226, %6
  %229 = mul nsw i32 %227, 4
  %230 = mul i32 %228, 4
  %231 = and i32 %229, 7936
  %232 = ashr i32 %231, 6
  %233 = xor i32 %229, %232
  %234 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %233
  store float %224, ptr addrspace(3) %234, align 4
  %235 = load float, ptr %local01, align 4
  %236 = add nsw i32 %7, 16
  %237 = mul nsw i32 %236, 64
  %238 = mul i32 %7, 64
  %239 = add nsw i32 %237, %6
  %240 = add i32 %238, %6
  %241 = mul nsw i32 %239, 4
  %242 = mul i32 %240, 4
  %243 = and i32 %241, 7936
  %244 = ashr i32 %243, 6
  %245 = xor i32 %241, %244
  %246 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %245
  store float %235, ptr addrspace(3) %246, align 4
  %247 = load float, ptr %local05, align 4
  %248 = add nsw i32 %7, 16
  %249 = add nsw i32 %6, 32
  %250 = mul nsw i32 %248, 64
  %251 = mul i32 %7, 64
  %252 = add nsw i32 %250, %249
  %253 = add i32 %251, %6
  %254 = mul nsw i32 %252, 4
  %255 = mul i32 %253, 4
  %256 = and i32 %254, 7936
  %257 = ashr i32 %256, 6
  %258 = xor i32 %254, %257
  %259 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %258
  store float %247, ptr addrspace(3) %259, align 4
  %260 = load float, ptr %local02, align 4
  %261 = add nsw i32 %7, 32
  %262 = mul nsw i32 %261, 64
  %263 = mul i32 %7, 64
  %264 = add nsw i32 %262, %6
  %265 = add i32 %263, %6
  %266 = mul nsw i32 %264, 4
  %267 = mul i32 %265, 4
  %268 = and i32 %266, 7936
  %269 = ashr i32 %268, 6
  %270 = xor i32 %266, %269
  %271 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %270
  store float %260, ptr addrspace(3) %271, align 4
  %272 = load float, ptr %local06, align 4
  %273 = add nsw i32 %7, 32
  %274 = add nsw i32 %6, 32
  %275 = mul nsw i32 %273, 64
  %276 = mul i32 %7, 64
  %277 = add nsw i32 %275, %274
  %278 = add i32 %276, %6
  %279 = mul nsw i32 %277, 4
  %280 = mul i32 %278, 4
  %281 = and i32 %279, 7936
  %282 = ashr i32 %281, 6
  %283 = xor i32 %279, %282
  %284 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %283
  store float %272, ptr addrspace(3) %284, align 4
  %285 = load float, ptr %local03, align 4
  %286 = add nsw i32 %7, 48
  %287 = mul nsw i32 %286, 64
  %288 = mul i32 %7, 64
  %289 = add nsw i32 %287, %6
  %290 = add i32 %288, %6
  %291 = mul nsw i32 %289, 4
  %292 = mul i32 %290, 4
  %293 = and i32 %291, 7936
  %294 = ashr i32 %293, 6
  %295 = xor i32 %291, %294
  %296 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %295
  store float %285, ptr addrspace(3) %296, align 4
  %297 = load float, ptr %local07, align 4
  %298 = add nsw i32 %7, 48
  %299 = add nsw i32 %6, 32
  %300 = mul nsw i32 %298, 64
  %301 = mul i32 %7, 64
  %302 = add nsw i32 %300, %299
  %303 = add i32 %301, %6
  %304 = mul nsw i32 %302, 4
  %305 = mul i32 %303, 4
  %306 = and i32 %304, 7936
  %307 = ashr i32 %306, 6
  %308 = xor i32 %304, %307
  %309 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %308
  store float %297, ptr addrspace(3) %309, align 4
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %310 = sext i32 %4 to i64
  %311 = mul nsw i64 %310, 64
  %312 = sext i32 %7 to i64
  %313 = add nsw i64 %311, %312
  %314 = icmp slt i64 %313, %1
  %315 = mul nsw i32 %5, 64
  %316 = add nsw i32 %315, %6
  %317 = sext i32 %316 to i64
  %318 = icmp slt i64 %317, %2
  %319 = and i1 %314, %318
  br i1 %319, label %then22, label %behind23

then22:                                           ; preds = %behind21
  %320 = mul nsw i32 %6, 64
  %321 = add nsw i32 %320, %7
  %322 = mul nsw i32 %321, 4
  %323 = and i32 %322, 7936
  %324 = ashr i32 %323, 6
  %325 = xor i32 %322, %324
  %326 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %325
  %327 = load float, ptr addrspace(3) %326, align 4
  %328 = sext i32 %7 to i64
  %329 = mul i64 %328, %2
  %330 = sext i32 %6 to i64
  %331 = add i64 %329, %330
  %332 = add i64 %27, %331
  %333 = mul i64 %332, 4
  %334 = getelementptr i8, ptr addrspace(1) %3, i64 %333
  store float %327, ptr addrspace(1) %334, align 4
  br label %behind23

behind23:                                         ; preds = %then22, %behind21
  %335 = add nsw i32 %6, 32
  %336 = sext i32 %4 to i64
  %337 = mul nsw i64 %336, 64
  %338 = sext i32 %7 to i64
  %339 = add nsw i64 %337, %338
  %340 = icmp slt i64 %339, %1
  %341 = mul nsw i32 %5, 64
  %342 = add nsw i32 %341, %335
  %343 = add i32 %341, %6
  %344 = sext i32 %342 to i64
  %345 = icmp slt i64 %344, %2
  %346 = and i1 %340, %345
  br i1 %346, label %then24, label %behind25

then24:                                           ; preds = %behind23
  %347 = mul nsw i32 %335, 64
  %348 = mul i32 %6, 64
  %349 = add nsw i32 %347, %7
  %350 = add i32 %348, %7
  %351 = mul nsw i32 %349, 4
  %352 = mul i32 %350, 4
  %353 = and i32 %351, 7936
  %354 = ashr i32 %353, 6
  %355 = xor i32 %351, %354
  %356 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %355
  %357 = load float, ptr addrspace(3) %356, align 4
  %358 = sext i32 %7 to i64
  %359 = mul i64 %358, %2
  %360 = sext i32 %335 to i64
  %361 = add i64 %359, %360
  %362 = sext i32 %6 to i64
  %363 = add i64 %359, %362
  %364 = add i64 %27, %361
  %365 = add i64 %27, %363
  %366 = mul i64 %364, 4
  %367 = mul i64 %365, 4
  %368 = getelementptr i8, ptr addrspace(1) %3, i64 %367
  %369 = getelementptr i8, ptr addrspace(1) %368, i64 128
  store float %357, ptr addrspace(1) %369, align 4
  br label %behind25

behind25:                                         ; preds = %then24, %behind23
  %370 = add nsw i32 %7, 16
  %371 = sext i32 %4 to i64
  %372 = mul nsw i64 %371, 64
  %373 = sext i32 %370 to i64
  %374 = add nsw i64 %372, %373
  %375 = sext i32 %7 to i64
  %376 = add i64 %372, %375
  %377 = icmp slt i64 %374, %1
  %378 = mul nsw i32 %5, 64
  %379 = add nsw i32 %378, %6
  %380 = sext i32 %379 to i64
  %381 = icmp slt i64 %380, %2
  %382 = and i1 %377, %381
  br i1 %382, label %then26, label %behind27

then26:                                           ; preds = %behind25
  %383 = mul nsw i32 %6, 64
  %384 = add nsw i32 %383, %370
  %385 = add i32 %383, %7
  %386 = mul nsw i32 %384, 4
  %387 = mul i32 %385, 4
  %388 = and i32 %386, 7936
  %389 = ashr i32 %388, 6
  %390 = xor i32 %386, %389
  %391 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %390
  %392 = load float, ptr addrspace(3) %391, align 4
  %393 = sext i32 %370 to i64
  %394 = mul i64 %393, %2
  %395 = sext i32 %6 to i64
  %396 = add i64 %394, %395
  %397 = add i64 %27, %396
  %398 = mul i64 %397, 4
  %399 = getelementptr i8, ptr addrspace(1) %3, i64 %398
  store float %392, ptr addrspace(1) %399, align 4
  br label %behind27

behind27:                                         ; preds = %then26, %behind25
  %400 = add nsw i32 %7, 16
  %401 = add nsw i32 %6, 32
  %402 = sext i32 %4 to i64
  %403 = mul nsw i64 %402, 64
  %404 = sext i32 %400 to i64
  %405 = add nsw i64 %403, %404
  %406 = sext i32 %7 to i64
  %407 = add i64 %403, %406
  %408 = icmp slt i64 %405, %1
  %409 = mul nsw i32 %5, 64
  %410 = add nsw i32 %409, %401
  %411 = add i32 %409, %6
  %412 = sext i32 %410 to i64
  %413 = icmp slt i64 %412, %2
  %414 = and i1 %408, %413
  br i1 %414, label %then28, label %behind29

then28:                                           ; preds = %behind27
  %415 = mul nsw i32 %401, 64
  %416 = mul i32 %6, 64
  %417 = add nsw i32 %415, %400
  %418 = add i32 %416, %7
  %419 = mul nsw i32 %417, 4
  %420 = mul i32 %418, 4
  %421 = and i32 %419, 7936
  %422 = ashr i32 %421, 6
  %423 = xor i32 %419, %422
  %424 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %423
  %425 = load float, ptr addrspace(3) %424, align 4
  %426 = sext i32 %400 to i64
  %427 = mul i64 %426, %2
  %428 = sext i32 %401 to i64
  %429 = add i64 %427, %428
  %430 = sext i32 %6 to i64
  %431 = add i64 %427, %430
  %432 = add i64 %27, %429
  %433 = add i64 %27, %431
  %434 = mul i64 %432, 4
  %435 = mul i64 %433, 4
  %436 = getelementptr i8, ptr addrspace(1) %3, i64 %435
  %437 = getelementptr i8, ptr addrspace(1) %436, i64 128
  store float %425, ptr addrspace(1) %437, align 4
  br label %behind29

behind29:                                         ; preds = %then28, %behind27
  %438 = add nsw i32 %7, 32
  %439 = sext i32 %4 to i64
  %440 = mul nsw i64 %439, 64
  %441 = sext i32 %438 to i64
  %442 = add nsw i64 %440, %441
  %443 = sext i32 %7 to i64
  %444 = add i64 %440, %443
  %445 = icmp slt i64 %442, %1
  %446 = mul nsw i32 %5, 64
  %447 = add nsw i32 %446, %6
  %448 = sext i32 %447 to i64
  %449 = icmp slt i64 %448, %2
  %450 = and i1 %445, %449
  br i1 %450, label %then30, label %behind31

then30:                                           ; preds = %behind29
  %451 = mul nsw i32 %6, 64
  %452 = add nsw i32 %451, %438
  %453 = add i32 %451, %7
  %454 = mul nsw i32 %452, 4
  %455 = mul i32 %453, 4
  %456 = and i32 %454, 7936
  %457 = ashr i32 %456, 6
  %458 = xor i32 %454, %457
  %459 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %458
  %460 = load float, ptr addrspace(3) %459, align 4
  %461 = sext i32 %438 to i64
  %462 = mul i64 %461, %2
  %463 = sext i32 %6 to i64
  %464 = add i64 %462, %463
  %465 = add i64 %27, %464
  %466 = mul i64 %465, 4
  %467 = getelementptr i8, ptr addrspace(1) %3, i64 %466
  store float %460, ptr addrspace(1) %467, align 4
  br label %behind31

behind31:                                         ; preds = %then30, %behind29
  %468 = add nsw i32 %7, 32
  %469 = add nsw i32 %6, 32
  %470 = sext i32 %4 to i64
  %471 = mul nsw i64 %470, 64
  %472 = sext i32 %468 to i64
  %473 = add nsw i64 %471, %472
  %474 = sext i32 %7 to i64
  %475 = add i64 %471, %474
  %476 = icmp slt i64 %473, %1
  %477 = mul nsw i32 %5, 64
  %478 = add nsw i32 %477, %469
  %479 = add i32 %477, %6
  %480 = sext i32 %478 to i64
  %481 = icmp slt i64 %480, %2
  %482 = and i1 %476, %481
  br i1 %482, label %then32, label %behind33

then32:                                           ; preds = %behind31
  %483 = mul nsw i32 %469, 64
  %484 = mul i32 %6, 64
  %485 = add nsw i32 %483, %468
  %486 = add i32 %484, %7
  %487 = mul nsw i32 %485, 4
  %488 = mul i32 %486, 4
  %489 = and i32 %487, 7936
  %490 = ashr i32 %489, 6
  %491 = xor i32 %487, %490
  %492 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %491
  %493 = load float, ptr addrspace(3) %492, align 4
  %494 = sext i32 %468 to i64
  %495 = mul i64 %494, %2
  %496 = sext i32 %469 to i64
  %497 = add i64 %495, %496
  %498 = sext i32 %6 to i64
  %499 = add i64 %495, %498
  %500 = add i64 %27, %497
  %501 = add i64 %27, %499
  %502 = mul i64 %500, 4
  %503 = mul i64 %501, 4
  %504 = getelementptr i8, ptr addrspace(1) %3, i64 %503
  %505 = getelementptr i8, ptr addrspace(1) %504, i64 128
  store float %493, ptr addrspace(1) %505, align 4
  br label %behind33

behind33:                                         ; preds = %then32, %behind31
  %506 = add nsw i32 %7, 48
  %507 = sext i32 %4 to i64
  %508 = mul nsw i64 %507, 64
  %509 = sext i32 %506 to i64
  %510 = add nsw i64 %508, %509
  %511 = sext i32 %7 to i64
  %512 = add i64 %508, %511
  %513 = icmp slt i64 %510, %1
  %514 = mul nsw i32 %5, 64
  %515 = add nsw i32 %514, %6
  %516 = sext i32 %515 to i64
  %517 = icmp slt i64 %516, %2
  %518 = and i1 %513, %517
  br i1 %518, label %then34, label %behind35

then34:                                           ; preds = %behind33
  %519 = mul nsw i32 %6, 64
  %520 = add nsw i32 %519, %506
  %521 = add i32 %519, %7
  %522 = mul nsw i32 %520, 4
  %523 = mul i32 %521, 4
  %524 = and i32 %522, 7936
  %525 = ashr i32 %524, 6
  %526 = xor i32 %522, %525
  %527 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %526
  %528 = load float, ptr addrspace(3) %527, align 4
  %529 = sext i32 %506 to i64
  %530 = mul i64 %529, %2
  %531 = sext i32 %6 to i64
  %532 = add i64 %530, %531
  %533 = add i64 %27, %532
  %534 = mul i64 %533, 4
  %535 = getelementptr i8, ptr addrspace(1) %3, i64 %534
  store float %528, ptr addrspace(1) %535, align 4
  br label %behind35

behind35:                                         ; preds = %then34, %behind33
  %536 = add nsw i32 %7, 48
  %537 = add nsw i32 %6, 32
  %538 = sext i32 %4 to i64
  %539 = mul nsw i64 %538, 64
  %540 = sext i32 %536 to i64
  %541 = add nsw i64 %539, %540
  %542 = sext i32 %7 to i64
  %543 = add i64 %539, %542
  %544 = icmp slt i64 %541, %1
  %545 = mul nsw i32 %5, 64
  %546 = add nsw i32 %545, %537
  %547 = add i32 %545, %6
  %548 = sext i32 %546 to i64
  %549 = icmp slt i64 %548, %2
  %550 = and i1 %544, %549
  br i1 %550, label %then36, label %behind37

then36:                                           ; preds = %behind35
  %551 = mul nsw i32 %537, 64
  %552 = mul i32 %6, 64
  %553 = add nsw i32 %551, %536
  %554 = add i32 %552, %7
  %555 = mul nsw i32 %553, 4
  %556 = mul i32 %554, 4
  %557 = and i32 %555, 7936
  %558 = ashr i32 %557, 6
  %559 = xor i32 %555, %558
  %560 = getelementptr i8, ptr addrspace(3) @"transpose_tiles$shared0", i32 %559
  %561 = load float, ptr addrspace(3) %560, align 4
  %562 = sext i32 %536 to i64
  %563 = mul i64 %562, %2
  %564 = sext i32 %537 to i64
  %565 = add i64 %563, %564
  %566 = sext i32 %6 to i64
  %567 = add i64 %563, %566
  %568 = add i64 %27, %565
  %569 = add i64 %27, %567
  %570 = mul i64 %568, 4
  %571 = mul i64 %569, 4
  %572 = getelementptr i8, ptr addrspace(1) %3, i64 %571
  %573 = getelementptr i8, ptr addrspace(1) %572, i64 128
  store float %561, ptr addrspace(1) %573, align 4
  br label %behind37

behind37:                                         ; preds = %then36, %behind35
  ret void
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

attributes #0 = { nounwind "nvvm.reqntid"="32,16,1" }
attributes #1 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
