;; A component of contract 0.1.0: runs `git --version` in the workspace, and answers the first word that it wrote.
(component
  (type $ty-flowhost:flow/types@0.1.0 (;0;)
    (instance
      (type (;0;) string)
      (export (;1;) "json" (type (eq 0)))
      (type (;2;) (enum "busy" "closed" "not-yours" "never-ran" "refused-dir" "idle" "other"))
      (export (;3;) "session-fault" (type (eq 2)))
      (type (;4;) (enum "not-installed" "not-logged-in" "model-unavailable" "throttled" "overloaded" "contended" "context-full" "killed" "dropped" "hung" "interrupted" "bad-output" "unsupported" "other"))
      (export (;5;) "harness-fault" (type (eq 4)))
      (type (;6;) (option u64))
      (type (;7;) (record (field "fault" 5) (field "retry-after-ms" 6)))
      (export (;8;) "harness-failure" (type (eq 7)))
      (type (;9;) (enum "not-found" "denied" "outside" "timed-out" "not-started" "conflict" "too-large" "unavailable" "interrupted" "other"))
      (export (;10;) "env-fault" (type (eq 9)))
      (type (;11;) (enum "cost" "output-tokens" "turns" "duration"))
      (export (;12;) "limit" (type (eq 11)))
      (type (;13;) (record (field "limit" 12) (field "whose" string)))
      (export (;14;) "spent-limit" (type (eq 13)))
      (type (;15;) (enum "not-found" "bad-ref" "too-deep" "trapped" "exceeded" "interrupted" "other"))
      (export (;16;) "flow-fault" (type (eq 15)))
      (type (;17;) (variant (case "session" 3) (case "harness" 8) (case "env" 10) (case "budget" 14) (case "requirement") (case "not-granted") (case "flow" 16) (case "failed") (case "stopped") (case "other")))
      (export (;18;) "error-kind" (type (eq 17)))
      (type (;19;) (record (field "kind" 18) (field "message" string)))
      (export (;20;) "error" (type (eq 19)))
    )
  )
  (import "flowhost:flow/types@0.1.0" (instance $flowhost:flow/types@0.1.0 (;0;) (type $ty-flowhost:flow/types@0.1.0)))
  (alias export $flowhost:flow/types@0.1.0 "error" (type $error (;1;)))
  (type $ty-flowhost:flow/envs@0.1.0 (;2;)
    (instance
      (export (;0;) "env" (type (sub resource)))
      (alias outer 1 $error (type (;1;)))
      (export (;2;) "error" (type (eq 1)))
      (type (;3;) (list string))
      (type (;4;) (tuple string string))
      (type (;5;) (list 4))
      (type (;6;) (list u8))
      (type (;7;) (option 6))
      (type (;8;) (option u64))
      (type (;9;) (record (field "argv" 3) (field "vars" 5) (field "stdin" 7) (field "timeout-ms" 8) (field "keep" 8) (field "repeatable" bool)))
      (export (;10;) "command" (type (eq 9)))
      (type (;11;) (record (field "status" s32) (field "stdout" 6) (field "stderr" 6) (field "truncated" bool)))
      (export (;12;) "output" (type (eq 11)))
      (type (;13;) (borrow 0))
      (type (;14;) (result 12 (error 2)))
      (type (;15;) (func async (param "self" 13) (param "command" 10) (result 14)))
      (export (;0;) "[method]env.exec" (func (type 15)))
      (type (;16;) (own 0))
      (type (;17;) (option 16))
      (type (;18;) (result 17 (error 2)))
      (type (;19;) (func (param "role" string) (result 18)))
      (export (;1;) "get-env" (func (type 19)))
    )
  )
  (import "flowhost:flow/envs@0.1.0" (instance $flowhost:flow/envs@0.1.0 (;1;) (type $ty-flowhost:flow/envs@0.1.0)))
  (alias export $flowhost:flow/types@0.1.0 "json" (type $json (;3;)))
  (import "json" (type $"#type4 json" (@name "json") (;4;) (eq $json)))
  (alias export $flowhost:flow/types@0.1.0 "error" (type $"#type5 error" (@name "error") (;5;)))
  (import "error" (type $"#type6 error" (@name "error") (;6;) (eq $"#type5 error")))
  (core module $main (;0;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32)))
    (type (;2;) (func (result i32)))
    (type (;3;) (func (param i32 i32) (result i32)))
    (type (;4;) (func (param i32 i32 i32 i32) (result i32)))
    (import "flowhost:flow/envs@0.1.0" "get-env" (func $get-env (;0;) (type 0) (param i32 i32 i32)))
    (import "flowhost:flow/envs@0.1.0" "[method]env.exec" (func $exec (;1;) (type 1) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32)))
    (memory (;0;) 1)
    (global $free (;0;) (mut i32) i32.const 4096)
    (export "memory" (memory 0))
    (export "describe" (func 2))
    (export "run" (func 4))
    (export "cabi_realloc" (func 5))
    (func (;2;) (type 2) (result i32)
      i32.const 16
      i32.const 1024
      i32.store
      i32.const 20
      i32.const 106
      i32.store
      i32.const 16
    )
    (func $answer (;3;) (type 3) (param $text i32) (param $length i32) (result i32)
      i32.const 2048
      i32.const 34
      i32.store8
      i32.const 2049
      local.get $text
      local.get $length
      memory.copy
      i32.const 2049
      local.get $length
      i32.add
      i32.const 34
      i32.store8
      i32.const 64
      i32.const 0
      i32.store8
      i32.const 72
      i32.const 2048
      i32.store
      i32.const 76
      local.get $length
      i32.const 2
      i32.add
      i32.store
      i32.const 64
    )
    (func (;4;) (type 3) (param i32 i32) (result i32)
      i32.const 600
      i32.const 9
      i32.const 128
      call $get-env
      i32.const 128
      i32.load8_u
      if ;; label = @1
        i32.const 128
        return
      end
      i32.const 640
      i32.const 620
      i32.store
      i32.const 644
      i32.const 3
      i32.store
      i32.const 648
      i32.const 624
      i32.store
      i32.const 652
      i32.const 9
      i32.store
      i32.const 140
      i32.load
      i32.const 640
      i32.const 2
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 0
      i64.const 0
      i32.const 0
      i64.const 0
      i32.const 0
      i32.const 384
      call $exec
      i32.const 384
      i32.load8_u
      if ;; label = @1
        i32.const 384
        return
      end
      i32.const 392
      i32.load
      if ;; label = @1
        unreachable
      end
      i32.const 396
      i32.load
      i32.const 3
      call $answer
    )
    (func (;5;) (type 4) (param i32 i32 i32 i32) (result i32)
      (local $given i32)
      global.get $free
      i32.const 7
      i32.add
      i32.const -8
      i32.and
      local.set $given
      local.get $given
      local.get 3
      i32.add
      global.set $free
      local.get $given
    )
    (data (;0;) (i32.const 1024) "{\22contract\22:\220.1.0\22,\22name\22:\22command\22,\22hidden\22:true,\22envs\22:[{\22name\22:\22workspace\22,\22capabilities\22:[\22shell\22]}]}")
    (data (;1;) (i32.const 600) "workspace")
    (data (;2;) (i32.const 620) "git")
    (data (;3;) (i32.const 624) "--version")
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core module $wit-component-shim-module (;1;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32)))
    (table (;0;) 2 2 funcref)
    (export "0" (func 0))
    (export "1" (func 1))
    (export "$imports" (table 0))
    (func (;0;) (type 0) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 0
      call_indirect (type 0)
    )
    (func (;1;) (type 1) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      local.get 8
      local.get 9
      local.get 10
      local.get 11
      local.get 12
      local.get 13
      i32.const 1
      call_indirect (type 1)
    )
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core instance $wit-component-shim-instance (;0;) (instantiate $wit-component-shim-module))
  (alias core export $wit-component-shim-instance "0" (core func $indirect-flowhost:flow/envs@0.1.0-get-env (;0;)))
  (alias core export $wit-component-shim-instance "1" (core func $"indirect-flowhost:flow/envs@0.1.0-[method]env.exec" (;1;)))
  (core instance $flowhost:flow/envs@0.1.0 (;1;)
    (export "get-env" (func $indirect-flowhost:flow/envs@0.1.0-get-env))
    (export "[method]env.exec" (func $"indirect-flowhost:flow/envs@0.1.0-[method]env.exec"))
  )
  (core instance $main (;2;) (instantiate $main
      (with "flowhost:flow/envs@0.1.0" (instance $flowhost:flow/envs@0.1.0))
    )
  )
  (alias core export $main "memory" (core memory $memory (;0;)))
  (core module $wit-component-fixup (;2;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32)))
    (import "actual" "0" (func (;0;) (type 0) (param i32 i32 i32)))
    (import "actual" "1" (func (;1;) (type 1) (param i32 i32 i32 i32 i32 i32 i32 i32 i32 i64 i32 i64 i32 i32)))
    (import "shim" "$imports" (table (;0;) 2 2 funcref))
    (elem (;0;) (i32.const 0) func 0 1)
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (alias export $flowhost:flow/envs@0.1.0 "get-env" (func $get-env (;0;)))
  (alias core export $main "cabi_realloc" (core func $cabi_realloc (;2;)))
  (core func $"#core-func3 indirect-flowhost:flow/envs@0.1.0-get-env" (@name "indirect-flowhost:flow/envs@0.1.0-get-env") (;3;) (canon lower (func $get-env) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $flowhost:flow/envs@0.1.0 "[method]env.exec" (func $"[method]env.exec" (;1;)))
  (core func $"#core-func4 indirect-flowhost:flow/envs@0.1.0-[method]env.exec" (@name "indirect-flowhost:flow/envs@0.1.0-[method]env.exec") (;4;) (canon lower (func $"[method]env.exec") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (core instance $actual (;3;)
    (export "0" (func $"#core-func3 indirect-flowhost:flow/envs@0.1.0-get-env"))
    (export "1" (func $"#core-func4 indirect-flowhost:flow/envs@0.1.0-[method]env.exec"))
  )
  (core instance $fixup (;4;) (instantiate $wit-component-fixup
      (with "actual" (instance $actual))
      (with "shim" (instance $wit-component-shim-instance))
    )
  )
  (type (;7;) (func (result $"#type4 json")))
  (alias core export $main "describe" (core func $describe (;5;)))
  (func $describe (;2;) (type 7) (canon lift (core func $describe) (memory $memory) string-encoding=utf8))
  (export $"#func3 describe" (@name "describe") (;3;) "describe" (func $describe))
  (type (;8;) (result $"#type4 json" (error $"#type6 error")))
  (type (;9;) (func async (param "task" string) (result 8)))
  (alias core export $main "run" (core func $run (;6;)))
  (func $run (;4;) (type 9) (canon lift (core func $run) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (export $"#func5 run" (@name "run") (;5;) "run" (func $run))
  (@producers
    (processed-by "wit-component" "0.263.0")
  )
)
