;; Bounds how well the words of consecutive rows can match a query, alone or with their neighbours.
;; `node scripts/kernel.mjs` compiles this file into module.ts. Numbers have 32 bits; `scale` compensates for their rounding.
;;
;; The memory contains these arrays. Lengths, sums, shares, states and questions begin four rows before the first row:
;;
;;        0  1,032 numbers: lengths, in terms
;;     4128  1,032 numbers: idf × frequency, summed over the terms of the query
;;     8256  1,032 numbers: the share of a row's words that counts for its neighbours, and of theirs for it
;;    12384  1,032 bytes: states
;;    13416  1,032 bytes: 1 for a row that contains a question
;;    14448  1,024 bytes: strengths (32 × the highest possible relevance of a row, rounded up)
;;    15472  4 × 33 whole numbers: how many rows have each strength, one array for every fourth row from the first, one from
;;           the second, and so on; rows that no word touches are not counted
;;    16000  8 bytes: the highest strength of each 128 rows
;;
;; bound(count, lengthPart, scale)
;;
;; writes the strengths of `count` rows, at most 1,024, and the highest of each group, adds to the counts, and returns how
;; many rows contain a term. A length adds 0.3 + `lengthPart` × length to the denominator of BM25. BM25 × `scale` is 1 for a
;; memory of average length that contains every term once.
;;
;; The score of a term grows ever more slowly with its frequency, so the score of a sum of frequencies is at most the sum of
;; their scores. So the terms need not be distinguished: each row scores its own sum as if it were one occurrence of one term,
;; and in the same way what the neighbours add.
(module
  (import "kernel" "memory" (memory 1))

  (func (export "bound") (param $count i32) (param $lengthPart f32) (param $scale f32) (result i32)
    (local $at i32) (local $bytes i32) (local $end i32) (local $place i32)
    (local $sums v128) (local $sumBefore v128) (local $sumAfter v128) (local $sumFirst v128) (local $sumLast v128)
    (local $states v128) (local $own v128) (local $length v128)
    (local $before v128) (local $after v128) (local $first v128) (local $last v128)
    (local $alone v128) (local $around v128) (local $parts v128) (local $scales v128) (local $matches i32)

    (local.set $parts (f32x4.splat (local.get $lengthPart)))
    ;; 2.2 is the common factor of all scores.
    (local.set $scales (f32x4.splat (f32.mul (f32.const 2.2) (local.get $scale))))
    ;; The shares, including the four rows before and after: min(1, 25 / length), or 0 for mute rows (4).
    (local.set $end (i32.shl (i32.add (local.get $count) (i32.const 8)) (i32.const 2)))
    (local.set $bytes (i32.const 12384))
    (loop $shares
      (v128.store offset=8256
        (local.get $at)
        (v128.and
          (f32x4.pmin
            (v128.const f32x4 1 1 1 1)
            (f32x4.div (v128.const f32x4 25 25 25 25) (v128.load (local.get $at))))
          (i32x4.eq
            (v128.and
              (i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u (v128.load32_zero (local.get $bytes))))
              (v128.const i32x4 4 4 4 4))
            (v128.const i32x4 0 0 0 0))))
      (local.set $bytes (i32.add (local.get $bytes) (i32.const 4)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $shares (i32.lt_u (local.get $at) (local.get $end))))

    (local.set $at (i32.const 16))
    (local.set $bytes (i32.const 4))
    (local.set $end (i32.add (local.get $count) (i32.const 4)))
    (loop $rows
      (local.set $sums (v128.load offset=4128 (local.get $at)))
      (local.set $sumBefore (v128.load offset=4124 (local.get $at)))
      (local.set $sumAfter (v128.load offset=4132 (local.get $at)))
      (local.set $sumFirst (v128.load offset=4120 (local.get $at)))
      (local.set $sumLast (v128.load offset=4136 (local.get $at)))
      (if (v128.any_true
            (v128.or
              (v128.or (local.get $sums) (v128.or (local.get $sumBefore) (local.get $sumAfter)))
              (v128.or (local.get $sumFirst) (local.get $sumLast))))
        (then
          (local.set $states
            (i32x4.extend_low_i16x8_u (i16x8.extend_low_i8x16_u (v128.load32_zero offset=12384 (local.get $bytes)))))
          ;; Neighbours count for rows that are visible (1) and not apart (2).
          (local.set $own
            (v128.and
              (v128.load offset=8256 (local.get $at))
              (i32x4.eq
                (v128.and (local.get $states) (v128.const i32x4 3 3 3 3))
                (v128.const i32x4 1 1 1 1))))
          ;; Whether there is a turn before (8) and after (16), and beyond those.
          (local.set $before
            (v128.and
              (local.get $own)
              (i32x4.eq
                (v128.and (local.get $states) (v128.const i32x4 8 8 8 8))
                (v128.const i32x4 8 8 8 8))))
          (local.set $after
            (v128.and
              (local.get $own)
              (i32x4.eq
                (v128.and (local.get $states) (v128.const i32x4 16 16 16 16))
                (v128.const i32x4 16 16 16 16))))
          (local.set $first
            (v128.and
              (local.get $before)
              (i32x4.eq
                (v128.and
                  (i32x4.extend_low_i16x8_u
                    (i16x8.extend_low_i8x16_u (v128.load32_zero offset=12383 (local.get $bytes))))
                  (v128.const i32x4 8 8 8 8))
                (v128.const i32x4 8 8 8 8))))
          (local.set $last
            (v128.and
              (local.get $after)
              (i32x4.eq
                (v128.and
                  (i32x4.extend_low_i16x8_u
                    (i16x8.extend_low_i8x16_u (v128.load32_zero offset=12385 (local.get $bytes))))
                  (v128.const i32x4 16 16 16 16))
                (v128.const i32x4 16 16 16 16))))
          ;; A weight is base × own share × its share. The base of the turn before is 0.7 for a question, else 0.3.
          (local.set $before
            (f32x4.mul
              (f32x4.mul (local.get $before) (v128.load offset=8252 (local.get $at)))
              (f32x4.add
                (v128.const f32x4 0.3 0.3 0.3 0.3)
                (f32x4.mul
                  (v128.const f32x4 0.4 0.4 0.4 0.4)
                  (f32x4.convert_i32x4_u
                    (i32x4.extend_low_i16x8_u
                      (i16x8.extend_low_i8x16_u (v128.load32_zero offset=13415 (local.get $bytes)))))))))
          (local.set $after
            (f32x4.mul
              (f32x4.mul (local.get $after) (v128.load offset=8260 (local.get $at)))
              (v128.const f32x4 0.25 0.25 0.25 0.25)))
          (local.set $first
            (f32x4.mul
              (f32x4.mul (local.get $first) (v128.load offset=8248 (local.get $at)))
              (v128.const f32x4 0.15 0.15 0.15 0.15)))
          (local.set $last
            (f32x4.mul
              (f32x4.mul (local.get $last) (v128.load offset=8264 (local.get $at)))
              (v128.const f32x4 0.15 0.15 0.15 0.15)))
          ;; A term that occurs once scores 2.2 / (1 + 0.3 + lengthPart × length).
          (local.set $length (v128.load (local.get $at)))
          (local.set $alone
            (f32x4.div
              (local.get $sums)
              (f32x4.add (v128.const f32x4 1.3 1.3 1.3 1.3) (f32x4.mul (local.get $parts) (local.get $length)))))
          (local.set $length
            (f32x4.add
              (f32x4.add
                (f32x4.add
                  (local.get $length)
                  (f32x4.mul (local.get $before) (v128.load (i32.sub (local.get $at) (i32.const 4)))))
                (f32x4.mul (local.get $after) (v128.load offset=4 (local.get $at))))
              (f32x4.add
                (f32x4.mul (local.get $first) (v128.load (i32.sub (local.get $at) (i32.const 8))))
                (f32x4.mul (local.get $last) (v128.load offset=8 (local.get $at))))))
          (local.set $length
            (f32x4.add (v128.const f32x4 0.3 0.3 0.3 0.3) (f32x4.mul (local.get $parts) (local.get $length))))
          ;; One that occurs `weight` times scores 2.2 × weight / (weight + 0.3 + lengthPart × length). Two scores share a division.
          (local.set $sumBefore (f32x4.mul (local.get $before) (local.get $sumBefore)))
          (local.set $sumAfter (f32x4.mul (local.get $after) (local.get $sumAfter)))
          (local.set $sumFirst (f32x4.mul (local.get $first) (local.get $sumFirst)))
          (local.set $sumLast (f32x4.mul (local.get $last) (local.get $sumLast)))
          (local.set $before (f32x4.add (local.get $before) (local.get $length)))
          (local.set $after (f32x4.add (local.get $after) (local.get $length)))
          (local.set $first (f32x4.add (local.get $first) (local.get $length)))
          (local.set $last (f32x4.add (local.get $last) (local.get $length)))
          (local.set $around
            (f32x4.add
              (f32x4.div
                (local.get $sums)
                (f32x4.add (v128.const f32x4 1 1 1 1) (local.get $length)))
              (f32x4.add
                (f32x4.div
                  (f32x4.add
                    (f32x4.mul (local.get $sumBefore) (local.get $after))
                    (f32x4.mul (local.get $sumAfter) (local.get $before)))
                  (f32x4.mul (local.get $before) (local.get $after)))
                (f32x4.div
                  (f32x4.add
                    (f32x4.mul (local.get $sumFirst) (local.get $last))
                    (f32x4.mul (local.get $sumLast) (local.get $first)))
                  (f32x4.mul (local.get $first) (local.get $last))))))
          ;; x = BM25 × scale; relevance is 0.9 × x up to x = 1, and 0.9 + (x − 1) / 12 above: the lower of both.
          (local.set $around
            (f32x4.mul (local.get $scales) (f32x4.pmax (local.get $alone) (local.get $around))))
          (local.set $around
            (f32x4.pmin
              (f32x4.pmin
                (f32x4.mul (v128.const f32x4 28.8 28.8 28.8 28.8) (local.get $around))
                (v128.const f32x4 32 32 32 32))
              (f32x4.add
                (v128.const f32x4 26.133335 26.133335 26.133335 26.133335)
                (f32x4.mul
                  (v128.const f32x4 2.666667 2.666667 2.666667 2.666667)
                  (local.get $around)))))
          ;; After adding 2^23, the lowest bits contain the whole number.
          (local.set $around
            (v128.and
              (f32x4.add
                (v128.const f32x4 8388608 8388608 8388608 8388608)
                (f32x4.ceil (local.get $around)))
              (v128.const i32x4 63 63 63 63)))
          (local.set $matches
            (i32.add
              (local.get $matches)
              (i32.popcnt (i32x4.bitmask (f32x4.gt (local.get $sums) (v128.const f32x4 0 0 0 0))))))
          (v128.store32_lane offset=14444 0
            (local.get $bytes)
            (i8x16.shuffle 0 4 8 12 0 0 0 0 0 0 0 0 0 0 0 0 (local.get $around) (local.get $around)))
          (local.set $place (i32.shl (i32x4.extract_lane 0 (local.get $around)) (i32.const 2)))
          (i32.store offset=15472
            (local.get $place)
            (i32.add (i32.load offset=15472 (local.get $place)) (i32.const 1)))
          (local.set $place (i32.shl (i32x4.extract_lane 1 (local.get $around)) (i32.const 2)))
          (i32.store offset=15604
            (local.get $place)
            (i32.add (i32.load offset=15604 (local.get $place)) (i32.const 1)))
          (local.set $place (i32.shl (i32x4.extract_lane 2 (local.get $around)) (i32.const 2)))
          (i32.store offset=15736
            (local.get $place)
            (i32.add (i32.load offset=15736 (local.get $place)) (i32.const 1)))
          (local.set $place (i32.shl (i32x4.extract_lane 3 (local.get $around)) (i32.const 2)))
          (i32.store offset=15868
            (local.get $place)
            (i32.add (i32.load offset=15868 (local.get $place)) (i32.const 1))))
        (else
          (i32.store offset=14444 (local.get $bytes) (i32.const 0))))
      (local.set $bytes (i32.add (local.get $bytes) (i32.const 4)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $rows (i32.lt_u (local.get $bytes) (local.get $end))))

    (local.set $at (i32.const 0))
    (local.set $place (i32.const 0))
    (loop $groups
      (local.set $sums
        (i8x16.max_u
          (i8x16.max_u
            (i8x16.max_u (v128.load offset=14448 (local.get $at)) (v128.load offset=14464 (local.get $at)))
            (i8x16.max_u (v128.load offset=14480 (local.get $at)) (v128.load offset=14496 (local.get $at))))
          (i8x16.max_u
            (i8x16.max_u (v128.load offset=14512 (local.get $at)) (v128.load offset=14528 (local.get $at)))
            (i8x16.max_u (v128.load offset=14544 (local.get $at)) (v128.load offset=14560 (local.get $at))))))
      (local.set $sums
        (i8x16.max_u
          (local.get $sums)
          (i8x16.shuffle 8 9 10 11 12 13 14 15 0 0 0 0 0 0 0 0 (local.get $sums) (local.get $sums))))
      (local.set $sums
        (i8x16.max_u
          (local.get $sums)
          (i8x16.shuffle 4 5 6 7 0 0 0 0 0 0 0 0 0 0 0 0 (local.get $sums) (local.get $sums))))
      (local.set $sums
        (i8x16.max_u
          (local.get $sums)
          (i8x16.shuffle 2 3 0 0 0 0 0 0 0 0 0 0 0 0 0 0 (local.get $sums) (local.get $sums))))
      (local.set $sums
        (i8x16.max_u
          (local.get $sums)
          (i8x16.shuffle 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 (local.get $sums) (local.get $sums))))
      (v128.store8_lane offset=16000 0 (local.get $place) (local.get $sums))
      (local.set $place (i32.add (local.get $place) (i32.const 1)))
      (local.set $at (i32.add (local.get $at) (i32.const 128)))
      (br_if $groups (i32.lt_u (local.get $at) (local.get $count))))
    (local.get $matches)))
