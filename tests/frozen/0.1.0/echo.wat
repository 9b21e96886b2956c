;; A component of contract 0.1.0: answers its task as a string.
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
  (alias export $flowhost:flow/types@0.1.0 "json" (type $json (;1;)))
  (import "json" (type $"#type2 json" (@name "json") (;2;) (eq $json)))
  (alias export $flowhost:flow/types@0.1.0 "error" (type $error (;3;)))
  (import "error" (type $"#type4 error" (@name "error") (;4;) (eq $error)))
  (core module $main (;0;)
    (type (;0;) (func (result i32)))
    (type (;1;) (func (param i32 i32) (result i32)))
    (type (;2;) (func (param i32 i32 i32 i32) (result i32)))
    (memory (;0;) 1)
    (global $free (;0;) (mut i32) i32.const 4096)
    (export "memory" (memory 0))
    (export "describe" (func 0))
    (export "run" (func 1))
    (export "cabi_realloc" (func 2))
    (func (;0;) (type 0) (result i32)
      i32.const 16
      i32.const 1024
      i32.store
      i32.const 20
      i32.const 48
      i32.store
      i32.const 16
    )
    (func (;1;) (type 1) (param $task i32) (param $length i32) (result i32)
      i32.const 2048
      i32.const 34
      i32.store8
      i32.const 2049
      local.get $task
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
    (func (;2;) (type 2) (param i32 i32 i32 i32) (result i32)
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
    (data (;0;) (i32.const 1024) "{\22contract\22:\220.1.0\22,\22name\22:\22echo\22,\22hidden\22:true}")
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core instance $main (;0;) (instantiate $main))
  (alias core export $main "memory" (core memory $memory (;0;)))
  (type (;5;) (func (result $"#type2 json")))
  (alias core export $main "describe" (core func $describe (;0;)))
  (func $describe (;0;) (type 5) (canon lift (core func $describe) (memory $memory) string-encoding=utf8))
  (export $"#func1 describe" (@name "describe") (;1;) "describe" (func $describe))
  (type (;6;) (result $"#type2 json" (error $"#type4 error")))
  (type (;7;) (func async (param "task" string) (result 6)))
  (alias core export $main "run" (core func $run (;1;)))
  (alias core export $main "cabi_realloc" (core func $cabi_realloc (;2;)))
  (func $run (;2;) (type 7) (canon lift (core func $run) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (export $"#func3 run" (@name "run") (;3;) "run" (func $run))
  (@producers
    (processed-by "wit-component" "0.263.0")
  )
)
