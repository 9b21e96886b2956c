;; A component of contract 0.1.0: sleeps, loads `echo`, and calls it with its own task.
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
      (type (;21;) (enum "finish" "cut"))
      (export (;22;) "grace" (type (eq 21)))
      (type (;23;) (option f64))
      (type (;24;) (option u32))
      (type (;25;) (record (field "cost" 23) (field "output-tokens" 6) (field "turns" 24) (field "duration-ms" 6) (field "grace" 22)))
      (export (;26;) "budget" (type (eq 25)))
    )
  )
  (import "flowhost:flow/types@0.1.0" (instance $flowhost:flow/types@0.1.0 (;0;) (type $ty-flowhost:flow/types@0.1.0)))
  (type $ty-flowhost:flow/envs@0.1.0 (;1;)
    (instance
      (export (;0;) "env" (type (sub resource)))
    )
  )
  (import "flowhost:flow/envs@0.1.0" (instance $flowhost:flow/envs@0.1.0 (;1;) (type $ty-flowhost:flow/envs@0.1.0)))
  (type $ty-flowhost:flow/agents@0.1.0 (;2;)
    (instance
      (export (;0;) "agent" (type (sub resource)))
    )
  )
  (import "flowhost:flow/agents@0.1.0" (instance $flowhost:flow/agents@0.1.0 (;2;) (type $ty-flowhost:flow/agents@0.1.0)))
  (alias export $flowhost:flow/types@0.1.0 "error" (type $error (;3;)))
  (alias export $flowhost:flow/agents@0.1.0 "agent" (type $agent (;4;)))
  (alias export $flowhost:flow/envs@0.1.0 "env" (type $env (;5;)))
  (alias export $flowhost:flow/types@0.1.0 "json" (type $json (;6;)))
  (alias export $flowhost:flow/types@0.1.0 "budget" (type $budget (;7;)))
  (type $ty-flowhost:flow/flows@0.1.0 (;8;)
    (instance
      (export (;0;) "callee" (type (sub resource)))
      (alias outer 1 $error (type (;1;)))
      (export (;2;) "error" (type (eq 1)))
      (alias outer 1 $agent (type (;3;)))
      (export (;4;) "agent" (type (eq 3)))
      (alias outer 1 $env (type (;5;)))
      (export (;6;) "env" (type (eq 5)))
      (alias outer 1 $json (type (;7;)))
      (export (;8;) "json" (type (eq 7)))
      (alias outer 1 $budget (type (;9;)))
      (export (;10;) "budget" (type (eq 9)))
      (type (;11;) (borrow 4))
      (type (;12;) (tuple string 11))
      (type (;13;) (list 12))
      (type (;14;) (borrow 6))
      (type (;15;) (tuple string 14))
      (type (;16;) (list 15))
      (type (;17;) (option 10))
      (type (;18;) (record (field "agents" 13) (field "envs" 16) (field "params" 8) (field "budget" 17)))
      (export (;19;) "handover" (type (eq 18)))
      (type (;20;) (borrow 0))
      (type (;21;) (result 8 (error 2)))
      (type (;22;) (func async (param "self" 20) (param "task" string) (param "given" 19) (result 21)))
      (export (;0;) "[method]callee.call" (func (type 22)))
      (type (;23;) (own 0))
      (type (;24;) (result 23 (error 2)))
      (type (;25;) (func async (param "reference" string) (result 24)))
      (export (;1;) "load" (func (type 25)))
    )
  )
  (import "flowhost:flow/flows@0.1.0" (instance $flowhost:flow/flows@0.1.0 (;3;) (type $ty-flowhost:flow/flows@0.1.0)))
  (type $ty-flowhost:flow/context@0.1.0 (;9;)
    (instance
      (type (;0;) (func async (param "ms" u64)))
      (export (;0;) "sleep" (func (type 0)))
    )
  )
  (import "flowhost:flow/context@0.1.0" (instance $flowhost:flow/context@0.1.0 (;4;) (type $ty-flowhost:flow/context@0.1.0)))
  (alias export $flowhost:flow/types@0.1.0 "json" (type $"#type10 json" (@name "json") (;10;)))
  (import "json" (type $"#type11 json" (@name "json") (;11;) (eq $"#type10 json")))
  (alias export $flowhost:flow/types@0.1.0 "error" (type $"#type12 error" (@name "error") (;12;)))
  (import "error" (type $"#type13 error" (@name "error") (;13;) (eq $"#type12 error")))
  (core module $main (;0;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32)))
    (type (;2;) (func (param i64)))
    (type (;3;) (func (result i32)))
    (type (;4;) (func (param i32 i32) (result i32)))
    (type (;5;) (func (param i32 i32 i32 i32) (result i32)))
    (import "flowhost:flow/flows@0.1.0" "load" (func $load (;0;) (type 0) (param i32 i32 i32)))
    (import "flowhost:flow/flows@0.1.0" "[method]callee.call" (func $call (;1;) (type 1) (param i32 i32)))
    (import "flowhost:flow/context@0.1.0" "sleep" (func $sleep (;2;) (type 2) (param i64)))
    (memory (;0;) 1)
    (global $free (;0;) (mut i32) i32.const 4096)
    (export "memory" (memory 0))
    (export "describe" (func 3))
    (export "run" (func 4))
    (export "cabi_realloc" (func 5))
    (func (;3;) (type 3) (result i32)
      i32.const 16
      i32.const 1024
      i32.store
      i32.const 20
      i32.const 67
      i32.store
      i32.const 16
    )
    (func (;4;) (type 4) (param $task i32) (param $length i32) (result i32)
      i64.const 1
      call $sleep
      i32.const 600
      i32.const 4
      i32.const 128
      call $load
      i32.const 128
      i32.load8_u
      if ;; label = @1
        i32.const 128
        return
      end
      i32.const 256
      i32.const 136
      i32.load
      i32.store
      i32.const 260
      local.get $task
      i32.store
      i32.const 264
      local.get $length
      i32.store
      i32.const 288
      i32.const 608
      i32.store
      i32.const 292
      i32.const 2
      i32.store
      i32.const 256
      i32.const 384
      call $call
      i32.const 384
    )
    (func (;5;) (type 5) (param i32 i32 i32 i32) (result i32)
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
    (data (;0;) (i32.const 1024) "{\22contract\22:\220.1.0\22,\22name\22:\22caller\22,\22hidden\22:true,\22loads\22:[\22echo\22]}")
    (data (;1;) (i32.const 600) "echo")
    (data (;2;) (i32.const 608) "{}")
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core module $wit-component-shim-module (;1;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32)))
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
    (func (;1;) (type 1) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 1
      call_indirect (type 1)
    )
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core instance $wit-component-shim-instance (;0;) (instantiate $wit-component-shim-module))
  (alias core export $wit-component-shim-instance "0" (core func $indirect-flowhost:flow/flows@0.1.0-load (;0;)))
  (alias core export $wit-component-shim-instance "1" (core func $"indirect-flowhost:flow/flows@0.1.0-[method]callee.call" (;1;)))
  (core instance $flowhost:flow/flows@0.1.0 (;1;)
    (export "load" (func $indirect-flowhost:flow/flows@0.1.0-load))
    (export "[method]callee.call" (func $"indirect-flowhost:flow/flows@0.1.0-[method]callee.call"))
  )
  (alias export $flowhost:flow/context@0.1.0 "sleep" (func $sleep (;0;)))
  (core func $sleep (;2;) (canon lower (func $sleep)))
  (core instance $flowhost:flow/context@0.1.0 (;2;)
    (export "sleep" (func $sleep))
  )
  (core instance $main (;3;) (instantiate $main
      (with "flowhost:flow/flows@0.1.0" (instance $flowhost:flow/flows@0.1.0))
      (with "flowhost:flow/context@0.1.0" (instance $flowhost:flow/context@0.1.0))
    )
  )
  (alias core export $main "memory" (core memory $memory (;0;)))
  (core module $wit-component-fixup (;2;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32)))
    (import "actual" "0" (func (;0;) (type 0) (param i32 i32 i32)))
    (import "actual" "1" (func (;1;) (type 1) (param i32 i32)))
    (import "shim" "$imports" (table (;0;) 2 2 funcref))
    (elem (;0;) (i32.const 0) func 0 1)
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (alias export $flowhost:flow/flows@0.1.0 "load" (func $load (;1;)))
  (alias core export $main "cabi_realloc" (core func $cabi_realloc (;3;)))
  (core func $"#core-func4 indirect-flowhost:flow/flows@0.1.0-load" (@name "indirect-flowhost:flow/flows@0.1.0-load") (;4;) (canon lower (func $load) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $flowhost:flow/flows@0.1.0 "[method]callee.call" (func $"[method]callee.call" (;2;)))
  (core func $"#core-func5 indirect-flowhost:flow/flows@0.1.0-[method]callee.call" (@name "indirect-flowhost:flow/flows@0.1.0-[method]callee.call") (;5;) (canon lower (func $"[method]callee.call") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (core instance $actual (;4;)
    (export "0" (func $"#core-func4 indirect-flowhost:flow/flows@0.1.0-load"))
    (export "1" (func $"#core-func5 indirect-flowhost:flow/flows@0.1.0-[method]callee.call"))
  )
  (core instance $fixup (;5;) (instantiate $wit-component-fixup
      (with "actual" (instance $actual))
      (with "shim" (instance $wit-component-shim-instance))
    )
  )
  (type (;14;) (func (result $"#type11 json")))
  (alias core export $main "describe" (core func $describe (;6;)))
  (func $describe (;3;) (type 14) (canon lift (core func $describe) (memory $memory) string-encoding=utf8))
  (export $"#func4 describe" (@name "describe") (;4;) "describe" (func $describe))
  (type (;15;) (result $"#type11 json" (error $"#type13 error")))
  (type (;16;) (func async (param "task" string) (result 15)))
  (alias core export $main "run" (core func $run (;7;)))
  (func $run (;5;) (type 16) (canon lift (core func $run) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (export $"#func6 run" (@name "run") (;6;) "run" (func $run))
  (@producers
    (processed-by "wit-component" "0.263.0")
  )
)
