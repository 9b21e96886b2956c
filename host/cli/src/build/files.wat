;; Hands the files of a flow to its runner: `flowhost:flow/source`, from a memory that `files.rs` fills.
;;
;;        0  the name of the flow's own file: where it is, and its length
;;        8  where the table of files begins, and where it ends
;;       16  the result that is given for a file that is there
;;       64  the result that is given for one that is not
;;      112  the table and all that it points to; four words a file: name, its length, contents, their length
;;  6291456  the path that is asked for
(module
  (memory (export "memory") 97)

  (func (export "flowhost:flow/source@0.1.0#main") (result i32)
    (i32.const 0))

  (func (export "flowhost:flow/source@0.1.0#read") (param $path i32) (param $length i32) (result i32)
    (local $file i32)
    (local $at i32)
    (local.set $file (i32.load (i32.const 8)))
    (block $missing
      (loop $next
        (br_if $missing (i32.eq (local.get $file) (i32.load (i32.const 12))))
        (block $differs
          (br_if $differs (i32.ne (i32.load offset=4 (local.get $file)) (local.get $length)))
          (local.set $at (i32.const 0))
          (block $same
            (loop $compare
              (br_if $same (i32.eq (local.get $at) (local.get $length)))
              (br_if $differs
                (i32.ne
                  (i32.load8_u (i32.add (local.get $path) (local.get $at)))
                  (i32.load8_u (i32.add (i32.load (local.get $file)) (local.get $at)))))
              (local.set $at (i32.add (local.get $at) (i32.const 1)))
              (br $compare)))
          (i32.store (i32.const 24) (i32.load offset=8 (local.get $file)))
          (i32.store (i32.const 28) (i32.load offset=12 (local.get $file)))
          (return (i32.const 16)))
        (local.set $file (i32.add (local.get $file) (i32.const 16)))
        (br $next)))
    (i32.const 64))

  ;; Only a path is ever put here, and it is read before the next comes.
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
    (if (i32.gt_u (local.get 3) (i32.const 65536)) (then (unreachable)))
    (i32.const 6291456)))
