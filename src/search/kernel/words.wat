;; How well the words of consecutive rows match a query, alone and with what stands beside them.
;; `node scripts/kernel.mjs` compiles it into module.ts. The operations and their order are those of text/bm25.ts and
;; text/context.ts, so that all give the same bits.
;;
;; The memory holds arrays, one after the other. Each begins two rows before the first one. Of 520 numbers of 64 bits:
;;
;;        0  lengths, in terms                      4160  counts of a term
;;     8320  how much the words of a row count beside others, and others' beside it
;;    12480  weight of the row before              16640  … after
;;    20800  … two before                          24960  … two after
;;    29120  what the length adds to a denominator 33280  … with what stands beside it
;;    37440  BM25, in the end the relevance        41600  … with what stands beside it
;;
;; and of bytes: 45760 states, 46288 asks, 46816 strengths (32 × the higher relevance, rounded up).
;;
;; begin(count, average)    writes all but the counts from lengths, states and asks; BM25 is 0
;; add(from, to, idf)       adds what a term gives to these rows
;; end(count, idfSum)       turns BM25 into relevance, and writes the strengths
;;
;; `count` is at most 512. Rows are taken in pairs, so that one more may be written than was asked for.
(module
  (import "kernel" "memory" (memory 1))

  (func (export "begin") (param $count i32) (param $average f64)
    (local $at i32) (local $state i32) (local $end i32) (local $averages v128) (local $part v128)
    (local $states v128) (local $own v128) (local $length v128) (local $before v128) (local $after v128)
    (local $first v128) (local $last v128)

    (local.set $averages (f64x2.splat (local.get $average)))
    ;; The shares, also of the two rows before and behind: min(1, 25 / length), and 0 of those that are mute (4).
    (local.set $state (i32.const 45760))
    (local.set $end (i32.shl (i32.add (local.get $count) (i32.const 4)) (i32.const 3)))
    (loop $shares
      (local.set $length (v128.load (local.get $at)))
      (local.set $part (v128.load16_splat (local.get $state)))
      (v128.store offset=8320
        (local.get $at)
        (v128.andnot
          (v128.bitselect
            (v128.const f64x2 1 1)
            (f64x2.div (v128.const f64x2 25 25) (local.get $length))
            (f64x2.le (local.get $length) (v128.const f64x2 25 25)))
          (i8x16.eq
            (v128.and
              (i8x16.shuffle 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 (local.get $part) (local.get $part))
              (v128.const i64x2 0x0404040404040404 0x0404040404040404))
            (v128.const i64x2 0x0404040404040404 0x0404040404040404))))
      (local.set $state (i32.add (local.get $state) (i32.const 2)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $shares (i32.lt_u (local.get $at) (local.get $end))))
    (local.set $at (i32.const 16))
    (local.set $state (i32.const 45762))
    (local.set $end (i32.shl (i32.add (local.get $count) (i32.const 2)) (i32.const 3)))
    (loop $rows
      ;; A byte of each row, in all eight of its lane: visible (1), and not apart (2).
      (local.set $part (v128.load16_splat (local.get $state)))
      (local.set $states (i8x16.shuffle 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 (local.get $part) (local.get $part)))
      (local.set $own
        (i8x16.eq
          (v128.and (local.get $states) (v128.const i64x2 0x0303030303030303 0x0303030303030303))
          (v128.const i64x2 0x0101010101010101 0x0101010101010101)))
      ;; Whether there is a turn before it (8) and after it (16), and beyond those.
      (local.set $before
        (v128.and
          (local.get $own)
          (i8x16.eq
            (v128.and (local.get $states) (v128.const i64x2 0x0808080808080808 0x0808080808080808))
            (v128.const i64x2 0x0808080808080808 0x0808080808080808))))
      (local.set $after
        (v128.and
          (local.get $own)
          (i8x16.eq
            (v128.and (local.get $states) (v128.const i64x2 0x1010101010101010 0x1010101010101010))
            (v128.const i64x2 0x1010101010101010 0x1010101010101010))))
      (local.set $part (v128.load16_splat (i32.sub (local.get $state) (i32.const 1))))
      (local.set $first
        (v128.and
          (local.get $before)
          (i8x16.eq
            (v128.and
              (i8x16.shuffle 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 (local.get $part) (local.get $part))
              (v128.const i64x2 0x0808080808080808 0x0808080808080808))
            (v128.const i64x2 0x0808080808080808 0x0808080808080808))))
      (local.set $part (v128.load16_splat offset=1 (local.get $state)))
      (local.set $last
        (v128.and
          (local.get $after)
          (i8x16.eq
            (v128.and
              (i8x16.shuffle 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 (local.get $part) (local.get $part))
              (v128.const i64x2 0x1010101010101010 0x1010101010101010))
            (v128.const i64x2 0x1010101010101010 0x1010101010101010))))
      ;; A weight is base × (own share × its share). A question (0.7) and its answer share their words between them.
      (local.set $own (v128.load offset=8320 (local.get $at)))
      (local.set $part (v128.load16_splat offset=527 (local.get $state)))
      (local.set $before
        (v128.and
          (local.get $before)
          (f64x2.mul
            (v128.bitselect
              (v128.const f64x2 0.7 0.7)
              (v128.const f64x2 0.3 0.3)
              (i8x16.eq
                (i8x16.shuffle 0 0 0 0 0 0 0 0 1 1 1 1 1 1 1 1 (local.get $part) (local.get $part))
                (v128.const i64x2 0x0101010101010101 0x0101010101010101)))
            (f64x2.mul (local.get $own) (v128.load offset=8312 (local.get $at))))))
      (local.set $after
        (v128.and
          (local.get $after)
          (f64x2.mul
            (v128.const f64x2 0.25 0.25)
            (f64x2.mul (local.get $own) (v128.load offset=8328 (local.get $at))))))
      (local.set $first
        (v128.and
          (local.get $first)
          (f64x2.mul
            (v128.const f64x2 0.15 0.15)
            (f64x2.mul (local.get $own) (v128.load offset=8304 (local.get $at))))))
      (local.set $last
        (v128.and
          (local.get $last)
          (f64x2.mul
            (v128.const f64x2 0.15 0.15)
            (f64x2.mul (local.get $own) (v128.load offset=8336 (local.get $at))))))
      (v128.store offset=12480 (local.get $at) (local.get $before))
      (v128.store offset=16640 (local.get $at) (local.get $after))
      (v128.store offset=20800 (local.get $at) (local.get $first))
      (v128.store offset=24960 (local.get $at) (local.get $last))
      ;; 1.2 × (0.25 + 0.75 × length / average)
      (local.set $length (v128.load (local.get $at)))
      (v128.store offset=29120
        (local.get $at)
        (f64x2.mul
          (v128.const f64x2 1.2 1.2)
          (f64x2.add
            (v128.const f64x2 0.25 0.25)
            (f64x2.mul (v128.const f64x2 0.75 0.75) (f64x2.div (local.get $length) (local.get $averages))))))
      (local.set $length
        (f64x2.add
          (local.get $length)
          (f64x2.mul (local.get $before) (v128.load (i32.sub (local.get $at) (i32.const 8))))))
      (local.set $length
        (f64x2.add (local.get $length) (f64x2.mul (local.get $after) (v128.load offset=8 (local.get $at)))))
      (local.set $length
        (f64x2.add
          (local.get $length)
          (f64x2.mul (local.get $first) (v128.load (i32.sub (local.get $at) (i32.const 16))))))
      (local.set $length
        (f64x2.add (local.get $length) (f64x2.mul (local.get $last) (v128.load offset=16 (local.get $at)))))
      (v128.store offset=33280
        (local.get $at)
        (f64x2.mul
          (v128.const f64x2 1.2 1.2)
          (f64x2.add
            (v128.const f64x2 0.25 0.25)
            (f64x2.mul (v128.const f64x2 0.75 0.75) (f64x2.div (local.get $length) (local.get $averages))))))
      (v128.store offset=37440 (local.get $at) (v128.const i64x2 0 0))
      (v128.store offset=41600 (local.get $at) (v128.const i64x2 0 0))
      (local.set $state (i32.add (local.get $state) (i32.const 2)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $rows (i32.lt_u (local.get $at) (local.get $end)))))

  (func (export "add") (param $from i32) (param $to i32) (param $idf f64)
    (local $at i32) (local $end i32) (local $idfs v128) (local $own v128) (local $frequency v128)

    (local.set $idfs (f64x2.splat (local.get $idf)))
    (local.set $at (i32.shl (i32.add (local.get $from) (i32.const 2)) (i32.const 3)))
    (local.set $end (i32.shl (i32.add (local.get $to) (i32.const 2)) (i32.const 3)))
    (loop $rows
      (local.set $own (v128.load offset=4160 (local.get $at)))
      (local.set $frequency (local.get $own))
      (local.set $frequency
        (f64x2.add
          (local.get $frequency)
          (f64x2.mul (v128.load offset=12480 (local.get $at)) (v128.load offset=4152 (local.get $at)))))
      (local.set $frequency
        (f64x2.add
          (local.get $frequency)
          (f64x2.mul (v128.load offset=16640 (local.get $at)) (v128.load offset=4168 (local.get $at)))))
      (local.set $frequency
        (f64x2.add
          (local.get $frequency)
          (f64x2.mul (v128.load offset=20800 (local.get $at)) (v128.load offset=4144 (local.get $at)))))
      (local.set $frequency
        (f64x2.add
          (local.get $frequency)
          (f64x2.mul (v128.load offset=24960 (local.get $at)) (v128.load offset=4176 (local.get $at)))))
      ;; idf × (frequency × 2.2 / (frequency + what the length adds))
      (v128.store offset=37440
        (local.get $at)
        (f64x2.add
          (v128.load offset=37440 (local.get $at))
          (f64x2.mul
            (local.get $idfs)
            (f64x2.div
              (f64x2.mul (local.get $own) (v128.const f64x2 2.2 2.2))
              (f64x2.add (local.get $own) (v128.load offset=29120 (local.get $at)))))))
      (v128.store offset=41600
        (local.get $at)
        (f64x2.add
          (v128.load offset=41600 (local.get $at))
          (f64x2.mul
            (local.get $idfs)
            (f64x2.div
              (f64x2.mul (local.get $frequency) (v128.const f64x2 2.2 2.2))
              (f64x2.add (local.get $frequency) (v128.load offset=33280 (local.get $at)))))))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $rows (i32.lt_u (local.get $at) (local.get $end)))))

  (func (export "end") (param $count i32) (param $idfSum f64)
    (local $at i32) (local $end i32) (local $idfSums v128) (local $own v128) (local $around v128) (local $x v128)
    (local $state i32)

    (local.set $idfSums (f64x2.splat (local.get $idfSum)))
    (local.set $state (i32.const 46818))
    (local.set $at (i32.const 16))
    (local.set $end (i32.shl (i32.add (local.get $count) (i32.const 2)) (i32.const 3)))
    (loop $rows
      ;; x = BM25 / idfSum; 0.9 × x up to 1, above it 0.9 + 0.1 × (x − 1) / 1.2
      (local.set $x (f64x2.div (v128.load offset=37440 (local.get $at)) (local.get $idfSums)))
      (local.set $own
        (v128.bitselect
          (f64x2.mul (v128.const f64x2 0.9 0.9) (local.get $x))
          (f64x2.add
            (v128.const f64x2 0.9 0.9)
            (f64x2.div
              (f64x2.mul (v128.const f64x2 0.1 0.1) (f64x2.sub (local.get $x) (v128.const f64x2 1 1)))
              (v128.const f64x2 1.2 1.2)))
          (f64x2.le (local.get $x) (v128.const f64x2 1 1))))
      (v128.store offset=37440 (local.get $at) (local.get $own))
      (local.set $x (f64x2.div (v128.load offset=41600 (local.get $at)) (local.get $idfSums)))
      (local.set $around
        (v128.bitselect
          (f64x2.mul (v128.const f64x2 0.9 0.9) (local.get $x))
          (f64x2.add
            (v128.const f64x2 0.9 0.9)
            (f64x2.div
              (f64x2.mul (v128.const f64x2 0.1 0.1) (f64x2.sub (local.get $x) (v128.const f64x2 1 1)))
              (v128.const f64x2 1.2 1.2)))
          (f64x2.le (local.get $x) (v128.const f64x2 1 1))))
      (v128.store offset=41600 (local.get $at) (local.get $around))
      (local.set $x
        (i32x4.trunc_sat_f64x2_u_zero
          (f64x2.ceil (f64x2.mul (f64x2.pmax (local.get $own) (local.get $around)) (v128.const f64x2 32 32)))))
      (v128.store16_lane 0
        (local.get $state)
        (i8x16.shuffle 0 4 0 0 0 0 0 0 0 0 0 0 0 0 0 0 (local.get $x) (local.get $x)))
      (local.set $state (i32.add (local.get $state) (i32.const 2)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br_if $rows (i32.lt_u (local.get $at) (local.get $end))))))
