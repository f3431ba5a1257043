;; Dot products of a query with consecutive rows of 8-bit codes. `npm run kernel` compiles it into module.ts.
;;
;; scan(query, codes, dimensions, count, products)
;;   query       where `dimensions` 16-bit components of the query begin
;;   codes       where the codes of the first row begin, `dimensions` bytes a row
;;   count       rows
;;   products    where the 32-bit products are written
;;
;; Two rows and 32 components a step: each part of the query is loaded once for both. Components beyond the last
;; multiple of 32 are added one by one. Sums are whole numbers, so that their order changes nothing.
(module
  (import "kernel" "memory" (memory 1))
  (func (export "scan")
    (param $query i32) (param $codes i32) (param $dimensions i32) (param $count i32) (param $products i32)
    (local $wide i32) (local $at i32) (local $q i32) (local $row i32) (local $next i32)
    (local $a v128) (local $b v128) (local $part v128) (local $sumA i32) (local $sumB i32)

    (local.set $wide (i32.and (local.get $dimensions) (i32.const -32)))
    (block $done
      (loop $rows
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $row (local.get $codes))
        ;; The last row of an odd number is taken twice.
        (local.set $next
          (select
            (local.get $codes)
            (i32.add (local.get $codes) (local.get $dimensions))
            (i32.eq (local.get $count) (i32.const 1))))
        (local.set $q (local.get $query))
        (local.set $a (v128.const i64x2 0 0))
        (local.set $b (v128.const i64x2 0 0))
        (local.set $at (i32.const 0))
        (block $added
          (loop $steps
            (br_if $added (i32.ge_u (local.get $at) (local.get $wide)))

            (local.set $part (v128.load offset=0 (local.get $q)))
            (local.set $a (i32x4.add (local.get $a)
              (i32x4.dot_i16x8_s (local.get $part) (v128.load8x8_s offset=0 (local.get $row)))))
            (local.set $b (i32x4.add (local.get $b)
              (i32x4.dot_i16x8_s (local.get $part) (v128.load8x8_s offset=0 (local.get $next)))))

            (local.set $part (v128.load offset=16 (local.get $q)))
            (local.set $a (i32x4.add (local.get $a)
              (i32x4.dot_i16x8_s (local.get $part) (v128.load8x8_s offset=8 (local.get $row)))))
            (local.set $b (i32x4.add (local.get $b)
              (i32x4.dot_i16x8_s (local.get $part) (v128.load8x8_s offset=8 (local.get $next)))))

            (local.set $part (v128.load offset=32 (local.get $q)))
            (local.set $a (i32x4.add (local.get $a)
              (i32x4.dot_i16x8_s (local.get $part) (v128.load8x8_s offset=16 (local.get $row)))))
            (local.set $b (i32x4.add (local.get $b)
              (i32x4.dot_i16x8_s (local.get $part) (v128.load8x8_s offset=16 (local.get $next)))))

            (local.set $part (v128.load offset=48 (local.get $q)))
            (local.set $a (i32x4.add (local.get $a)
              (i32x4.dot_i16x8_s (local.get $part) (v128.load8x8_s offset=24 (local.get $row)))))
            (local.set $b (i32x4.add (local.get $b)
              (i32x4.dot_i16x8_s (local.get $part) (v128.load8x8_s offset=24 (local.get $next)))))

            (local.set $q (i32.add (local.get $q) (i32.const 64)))
            (local.set $row (i32.add (local.get $row) (i32.const 32)))
            (local.set $next (i32.add (local.get $next) (i32.const 32)))
            (local.set $at (i32.add (local.get $at) (i32.const 32)))
            (br $steps)))

        (local.set $sumA (i32.add
          (i32.add (i32x4.extract_lane 0 (local.get $a)) (i32x4.extract_lane 1 (local.get $a)))
          (i32.add (i32x4.extract_lane 2 (local.get $a)) (i32x4.extract_lane 3 (local.get $a)))))
        (local.set $sumB (i32.add
          (i32.add (i32x4.extract_lane 0 (local.get $b)) (i32x4.extract_lane 1 (local.get $b)))
          (i32.add (i32x4.extract_lane 2 (local.get $b)) (i32x4.extract_lane 3 (local.get $b)))))

        (block $whole
          (loop $rest
            (br_if $whole (i32.ge_u (local.get $at) (local.get $dimensions)))
            (local.set $sumA (i32.add (local.get $sumA)
              (i32.mul (i32.load16_s (local.get $q)) (i32.load8_s (local.get $row)))))
            (local.set $sumB (i32.add (local.get $sumB)
              (i32.mul (i32.load16_s (local.get $q)) (i32.load8_s (local.get $next)))))
            (local.set $q (i32.add (local.get $q) (i32.const 2)))
            (local.set $row (i32.add (local.get $row) (i32.const 1)))
            (local.set $next (i32.add (local.get $next) (i32.const 1)))
            (local.set $at (i32.add (local.get $at) (i32.const 1)))
            (br $rest)))

        (i32.store offset=0 (local.get $products) (local.get $sumA))
        (br_if $done (i32.eq (local.get $count) (i32.const 1)))
        (i32.store offset=4 (local.get $products) (local.get $sumB))
        (local.set $products (i32.add (local.get $products) (i32.const 8)))
        (local.set $codes (i32.add (local.get $codes) (i32.shl (local.get $dimensions) (i32.const 1))))
        (local.set $count (i32.sub (local.get $count) (i32.const 2)))
        (br $rows)))))
