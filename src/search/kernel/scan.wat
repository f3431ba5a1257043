;; The loops over every row of an index. `node scripts/kernel.mjs` compiles this file into module.ts.
;;
;; scan(query, codes, dimensions, count, products)
;;   query       where `dimensions` 16-bit numbers of the query begin
;;   codes       where the codes of the first row begin, `dimensions` bytes a row
;;   count       rows
;;   products    where their 32-bit products are written
;;
;; A step takes 16 components of four rows. Two bytes of a row are one 16-bit number: 256 × the second code + the first,
;; which may be negative. Eight numbers of the query are multiplied with these, and then eight with 256 × the first code,
;; which is the 16-bit number shifted. So no code has to be widened. Sums are 256 × the sums of the codes.
;; Components after the last multiple of 16 have a byte and a number each and are added one by one. Sums are whole
;; numbers, so their order does not matter.
;;
;; The four rows are a quarter of the count apart, so memory is read as four streams. A processor only prefetches within
;; a page, so a single stream would wait at the start of each page. If the count is not a multiple of four, each stream
;; continues into the next one.
;;
;; peaks(products, count, peaks)
;;   products    as scan has written them
;;   count       how many products, at least 1
;;   peaks       where the highest of each 128 products is written (32 bits), and of the rest at the end
(module
  (import "kernel" "memory" (memory 1))
  (func (export "scan")
    (param $query i32) (param $codes i32) (param $dimensions i32) (param $count i32) (param $products i32)
    (local $wide i32) (local $end i32) (local $q i32) (local $rows i32) (local $apart i32) (local $at i32)
    (local $first i32) (local $second i32) (local $third i32) (local $fourth i32)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (local $pairs v128) (local $singles v128) (local $row v128) (local $part v128)

    (local.set $end (i32.add (local.get $query) (i32.shl (local.get $dimensions) (i32.const 1))))
    (local.set $wide (i32.and (local.get $dimensions) (i32.const -16)))
    (local.set $wide (i32.add (local.get $query) (i32.shl (local.get $wide) (i32.const 1))))

    (local.set $apart (i32.shr_u (local.get $count) (i32.const 2)))
    (local.set $rows (i32.sub (local.get $count) (i32.mul (local.get $apart) (i32.const 3))))
    (local.set $at (i32.mul (local.get $apart) (local.get $dimensions)))
    (local.set $apart (i32.shl (local.get $apart) (i32.const 2)))
    (local.set $first (local.get $codes))
    (local.set $second (i32.add (local.get $first) (local.get $at)))
    (local.set $third (i32.add (local.get $second) (local.get $at)))
    (local.set $fourth (i32.add (local.get $third) (local.get $at)))

    (block $done
      (loop $each
        (br_if $done (i32.eqz (local.get $rows)))
        (local.set $q (local.get $query))
        (local.set $a (v128.const i64x2 0 0))
        (local.set $b (v128.const i64x2 0 0))
        (local.set $c (v128.const i64x2 0 0))
        (local.set $d (v128.const i64x2 0 0))
        (block $added
          (br_if $added (i32.eq (local.get $q) (local.get $wide)))
          (loop $steps
            (local.set $pairs (v128.load offset=0 (local.get $q)))
            (local.set $singles (v128.load offset=16 (local.get $q)))
            (local.set $row (v128.load (local.get $first)))
            (local.set $a
              (i32x4.add
                (i32x4.add (local.get $a) (i32x4.dot_i16x8_s (local.get $pairs) (local.get $row)))
                (i32x4.dot_i16x8_s (local.get $singles) (i16x8.shl (local.get $row) (i32.const 8)))))
            (local.set $row (v128.load (local.get $second)))
            (local.set $b
              (i32x4.add
                (i32x4.add (local.get $b) (i32x4.dot_i16x8_s (local.get $pairs) (local.get $row)))
                (i32x4.dot_i16x8_s (local.get $singles) (i16x8.shl (local.get $row) (i32.const 8)))))
            (local.set $row (v128.load (local.get $third)))
            (local.set $c
              (i32x4.add
                (i32x4.add (local.get $c) (i32x4.dot_i16x8_s (local.get $pairs) (local.get $row)))
                (i32x4.dot_i16x8_s (local.get $singles) (i16x8.shl (local.get $row) (i32.const 8)))))
            (local.set $row (v128.load (local.get $fourth)))
            (local.set $d
              (i32x4.add
                (i32x4.add (local.get $d) (i32x4.dot_i16x8_s (local.get $pairs) (local.get $row)))
                (i32x4.dot_i16x8_s (local.get $singles) (i16x8.shl (local.get $row) (i32.const 8)))))

            (local.set $first (i32.add (local.get $first) (i32.const 16)))
            (local.set $second (i32.add (local.get $second) (i32.const 16)))
            (local.set $third (i32.add (local.get $third) (i32.const 16)))
            (local.set $fourth (i32.add (local.get $fourth) (i32.const 16)))
            (local.set $q (i32.add (local.get $q) (i32.const 32)))
            (br_if $steps (i32.lt_u (local.get $q) (local.get $wide)))))

        ;; Adds the four sums of each row, each into one lane of a.
        (local.set $part (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $a) (local.get $b)))
        (local.set $b (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $a) (local.get $b)))
        (local.set $a (i32x4.add (local.get $part) (local.get $b)))
        (local.set $part (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $c) (local.get $d)))
        (local.set $d (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $c) (local.get $d)))
        (local.set $c (i32x4.add (local.get $part) (local.get $d)))
        (local.set $a
          (i32x4.add
            (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $a) (local.get $c))
            (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $a) (local.get $c))))

        (block $whole
          (br_if $whole (i32.eq (local.get $q) (local.get $end)))
          (loop $rest
            (local.set $part (i32x4.splat (i32.shl (i32.load16_s (local.get $q)) (i32.const 8))))
            (local.set $a (i32x4.add (local.get $a)
              (i32x4.mul (local.get $part)
                (i32x4.replace_lane 3
                  (i32x4.replace_lane 2
                    (i32x4.replace_lane 1
                      (i32x4.splat (i32.load8_s (local.get $first)))
                      (i32.load8_s (local.get $second)))
                    (i32.load8_s (local.get $third)))
                  (i32.load8_s (local.get $fourth))))))
            (local.set $first (i32.add (local.get $first) (i32.const 1)))
            (local.set $second (i32.add (local.get $second) (i32.const 1)))
            (local.set $third (i32.add (local.get $third) (i32.const 1)))
            (local.set $fourth (i32.add (local.get $fourth) (i32.const 1)))
            (local.set $q (i32.add (local.get $q) (i32.const 2)))
            (br_if $rest (i32.lt_u (local.get $q) (local.get $end)))))

        (local.set $at (local.get $products))
        (v128.store32_lane 0 (local.get $at) (local.get $a))
        (local.set $at (i32.add (local.get $at) (local.get $apart)))
        (v128.store32_lane 1 (local.get $at) (local.get $a))
        (local.set $at (i32.add (local.get $at) (local.get $apart)))
        (v128.store32_lane 2 (local.get $at) (local.get $a))
        (local.set $at (i32.add (local.get $at) (local.get $apart)))
        (v128.store32_lane 3 (local.get $at) (local.get $a))
        (local.set $products (i32.add (local.get $products) (i32.const 4)))
        (local.set $rows (i32.sub (local.get $rows) (i32.const 1)))
        (br $each))))

  (func (export "peaks")
    (param $products i32) (param $count i32) (param $peaks i32)
    (local $at i32) (local $end i32) (local $last i32) (local $best v128) (local $peak i32) (local $product i32)

    (local.set $at (local.get $products))
    (local.set $last (i32.add (local.get $at) (i32.shl (local.get $count) (i32.const 2))))
    (loop $groups
      (local.set $end (i32.add (local.get $at) (i32.const 512)))
      (if (i32.gt_u (local.get $end) (local.get $last)) (then (local.set $end (local.get $last))))
      (local.set $best (v128.const i32x4 0x80000000 0x80000000 0x80000000 0x80000000))
      (block $four
        (loop $highest
          (br_if $four (i32.gt_u (i32.add (local.get $at) (i32.const 16)) (local.get $end)))
          (local.set $best (i32x4.max_s (local.get $best) (v128.load (local.get $at))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br $highest)))
      (local.set $best
        (i32x4.max_s
          (local.get $best)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $best) (local.get $best))))
      (local.set $best
        (i32x4.max_s
          (local.get $best)
          (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $best) (local.get $best))))
      (local.set $peak (i32x4.extract_lane 0 (local.get $best)))
      (block $all
        (loop $rest
          (br_if $all (i32.ge_u (local.get $at) (local.get $end)))
          (local.set $product (i32.load (local.get $at)))
          (if (i32.gt_s (local.get $product) (local.get $peak))
            (then (local.set $peak (local.get $product))))
          (local.set $at (i32.add (local.get $at) (i32.const 4)))
          (br $rest)))
      (i32.store (local.get $peaks) (local.get $peak))
      (local.set $peaks (i32.add (local.get $peaks) (i32.const 4)))
      (br_if $groups (i32.lt_u (local.get $at) (local.get $last))))))
