;; A component of contract 0.1.0: takes a turn with its task, logs what the agent said, and answers it. Calls that wait are lowered synchronously.
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
      (type (;27;) (enum "reported" "priced" "mixed" "made-up" "unknown"))
      (export (;28;) "cost-source" (type (eq 27)))
      (type (;29;) (record (field "turns" u32) (field "input-tokens" u64) (field "output-tokens" u64) (field "cache-read-tokens" u64) (field "cache-write-tokens" u64) (field "cost" f64) (field "cost-source" 28) (field "duration-ms" u64)))
      (export (;30;) "usage" (type (eq 29)))
    )
  )
  (import "flowhost:flow/types@0.1.0" (instance $flowhost:flow/types@0.1.0 (;0;) (type $ty-flowhost:flow/types@0.1.0)))
  (type $ty-flowhost:flow/envs@0.1.0 (;1;)
    (instance
      (export (;0;) "env" (type (sub resource)))
    )
  )
  (import "flowhost:flow/envs@0.1.0" (instance $flowhost:flow/envs@0.1.0 (;1;) (type $ty-flowhost:flow/envs@0.1.0)))
  (alias export $flowhost:flow/types@0.1.0 "error" (type $error (;2;)))
  (alias export $flowhost:flow/envs@0.1.0 "env" (type $env (;3;)))
  (alias export $flowhost:flow/types@0.1.0 "json" (type $json (;4;)))
  (alias export $flowhost:flow/types@0.1.0 "budget" (type $budget (;5;)))
  (alias export $flowhost:flow/types@0.1.0 "usage" (type $usage (;6;)))
  (type $ty-flowhost:flow/agents@0.1.0 (;7;)
    (instance
      (export (;0;) "agent" (type (sub resource)))
      (alias outer 1 $error (type (;1;)))
      (export (;2;) "error" (type (eq 1)))
      (alias outer 1 $env (type (;3;)))
      (export (;4;) "env" (type (eq 3)))
      (type (;5;) (enum "refuse" "queue"))
      (export (;6;) "when-busy" (type (eq 5)))
      (export (;7;) "session" (type (sub resource)))
      (alias outer 1 $json (type (;8;)))
      (export (;9;) "json" (type (eq 8)))
      (alias outer 1 $budget (type (;10;)))
      (export (;11;) "budget" (type (eq 10)))
      (type (;12;) (option 9))
      (type (;13;) (option 11))
      (type (;14;) (option f64))
      (type (;15;) (record (field "schema" 12) (field "budget" 13) (field "expected-cost" 14)))
      (export (;16;) "turn-options" (type (eq 15)))
      (alias outer 1 $usage (type (;17;)))
      (export (;18;) "usage" (type (eq 17)))
      (type (;19;) (record (field "text" string) (field "value" 12) (field "usage" 18)))
      (export (;20;) "answer" (type (eq 19)))
      (type (;21;) (borrow 7))
      (type (;22;) (result 20 (error 2)))
      (type (;23;) (func async (param "self" 21) (param "prompt" string) (param "options" 16) (result 22)))
      (export (;0;) "[method]session.run" (func (type 23)))
      (type (;24;) (borrow 0))
      (type (;25;) (borrow 4))
      (type (;26;) (option 25))
      (type (;27;) (option string))
      (type (;28;) (own 7))
      (type (;29;) (result 28 (error 2)))
      (type (;30;) (func (param "self" 24) (param "at" 26) (param "directory" 27) (param "when-busy" 6) (result 29)))
      (export (;1;) "[method]agent.spawn" (func (type 30)))
      (type (;31;) (own 0))
      (type (;32;) (option 31))
      (type (;33;) (result 32 (error 2)))
      (type (;34;) (func (param "role" string) (result 33)))
      (export (;2;) "get-agent" (func (type 34)))
    )
  )
  (import "flowhost:flow/agents@0.1.0" (instance $flowhost:flow/agents@0.1.0 (;2;) (type $ty-flowhost:flow/agents@0.1.0)))
  (type $ty-flowhost:flow/context@0.1.0 (;8;)
    (instance
      (type (;0;) (func (param "line" string)))
      (export (;0;) "log" (func (type 0)))
    )
  )
  (import "flowhost:flow/context@0.1.0" (instance $flowhost:flow/context@0.1.0 (;3;) (type $ty-flowhost:flow/context@0.1.0)))
  (alias export $flowhost:flow/types@0.1.0 "json" (type $"#type9 json" (@name "json") (;9;)))
  (import "json" (type $"#type10 json" (@name "json") (;10;) (eq $"#type9 json")))
  (alias export $flowhost:flow/types@0.1.0 "error" (type $"#type11 error" (@name "error") (;11;)))
  (import "error" (type $"#type12 error" (@name "error") (;12;) (eq $"#type11 error")))
  (core module $main (;0;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32)))
    (type (;3;) (func (param i32)))
    (type (;4;) (func (result i32)))
    (type (;5;) (func (param i32 i32) (result i32)))
    (type (;6;) (func (param i32 i32 i32 i32) (result i32)))
    (import "flowhost:flow/agents@0.1.0" "get-agent" (func $get-agent (;0;) (type 0) (param i32 i32 i32)))
    (import "flowhost:flow/agents@0.1.0" "[method]agent.spawn" (func $spawn (;1;) (type 1) (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "flowhost:flow/agents@0.1.0" "[method]session.run" (func $run (;2;) (type 2) (param i32 i32)))
    (import "flowhost:flow/agents@0.1.0" "[resource-drop]session" (func $drop-session (;3;) (type 3) (param i32)))
    (import "flowhost:flow/context@0.1.0" "log" (func $log (;4;) (type 2) (param i32 i32)))
    (memory (;0;) 1)
    (global $free (;0;) (mut i32) i32.const 4096)
    (export "memory" (memory 0))
    (export "describe" (func 5))
    (export "run" (func 7))
    (export "cabi_realloc" (func 8))
    (func (;5;) (type 4) (result i32)
      i32.const 16
      i32.const 1024
      i32.store
      i32.const 20
      i32.const 76
      i32.store
      i32.const 16
    )
    (func $answer (;6;) (type 5) (param $text i32) (param $length i32) (result i32)
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
    (func (;7;) (type 5) (param $task i32) (param $length i32) (result i32)
      i32.const 600
      i32.const 5
      i32.const 128
      call $get-agent
      i32.const 128
      i32.load8_u
      if ;; label = @1
        i32.const 128
        return
      end
      i32.const 140
      i32.load
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 192
      call $spawn
      i32.const 192
      i32.load8_u
      if ;; label = @1
        i32.const 192
        return
      end
      i32.const 256
      i32.const 200
      i32.load
      i32.store
      i32.const 260
      local.get $task
      i32.store
      i32.const 264
      local.get $length
      i32.store
      i32.const 256
      i32.const 384
      call $run
      i32.const 384
      i32.load8_u
      if ;; label = @1
        i32.const 384
        return
      end
      i32.const 200
      i32.load
      call $drop-session
      i32.const 392
      i32.load
      i32.const 396
      i32.load
      call $log
      i32.const 392
      i32.load
      i32.const 396
      i32.load
      call $answer
    )
    (func (;8;) (type 6) (param i32 i32 i32 i32) (result i32)
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
    (data (;0;) (i32.const 1024) "{\22contract\22:\220.1.0\22,\22name\22:\22turn\22,\22hidden\22:true,\22agents\22:[{\22name\22:\22agent\22}]}")
    (data (;1;) (i32.const 600) "agent")
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core module $wit-component-shim-module (;1;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32)))
    (table (;0;) 4 4 funcref)
    (export "0" (func 0))
    (export "1" (func 1))
    (export "2" (func 2))
    (export "3" (func 3))
    (export "$imports" (table 0))
    (func (;0;) (type 0) (param i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      i32.const 0
      call_indirect (type 0)
    )
    (func (;1;) (type 1) (param i32 i32 i32 i32 i32 i32 i32 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      local.get 5
      local.get 6
      local.get 7
      i32.const 1
      call_indirect (type 1)
    )
    (func (;2;) (type 2) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 2
      call_indirect (type 2)
    )
    (func (;3;) (type 2) (param i32 i32)
      local.get 0
      local.get 1
      i32.const 3
      call_indirect (type 2)
    )
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core instance $wit-component-shim-instance (;0;) (instantiate $wit-component-shim-module))
  (alias core export $wit-component-shim-instance "0" (core func $indirect-flowhost:flow/agents@0.1.0-get-agent (;0;)))
  (alias core export $wit-component-shim-instance "1" (core func $"indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn" (;1;)))
  (alias core export $wit-component-shim-instance "2" (core func $"indirect-flowhost:flow/agents@0.1.0-[method]session.run" (;2;)))
  (alias export $flowhost:flow/agents@0.1.0 "session" (type $session (;13;)))
  (core func $resource.drop (;3;) (canon resource.drop $session))
  (core instance $flowhost:flow/agents@0.1.0 (;1;)
    (export "get-agent" (func $indirect-flowhost:flow/agents@0.1.0-get-agent))
    (export "[method]agent.spawn" (func $"indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn"))
    (export "[method]session.run" (func $"indirect-flowhost:flow/agents@0.1.0-[method]session.run"))
    (export "[resource-drop]session" (func $resource.drop))
  )
  (alias core export $wit-component-shim-instance "3" (core func $indirect-flowhost:flow/context@0.1.0-log (;4;)))
  (core instance $flowhost:flow/context@0.1.0 (;2;)
    (export "log" (func $indirect-flowhost:flow/context@0.1.0-log))
  )
  (core instance $main (;3;) (instantiate $main
      (with "flowhost:flow/agents@0.1.0" (instance $flowhost:flow/agents@0.1.0))
      (with "flowhost:flow/context@0.1.0" (instance $flowhost:flow/context@0.1.0))
    )
  )
  (alias core export $main "memory" (core memory $memory (;0;)))
  (core module $wit-component-fixup (;2;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32)))
    (import "actual" "0" (func (;0;) (type 0) (param i32 i32 i32)))
    (import "actual" "1" (func (;1;) (type 1) (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "actual" "2" (func (;2;) (type 2) (param i32 i32)))
    (import "actual" "3" (func (;3;) (type 2) (param i32 i32)))
    (import "shim" "$imports" (table (;0;) 4 4 funcref))
    (elem (;0;) (i32.const 0) func 0 1 2 3)
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (alias export $flowhost:flow/agents@0.1.0 "get-agent" (func $get-agent (;0;)))
  (alias core export $main "cabi_realloc" (core func $cabi_realloc (;5;)))
  (core func $"#core-func6 indirect-flowhost:flow/agents@0.1.0-get-agent" (@name "indirect-flowhost:flow/agents@0.1.0-get-agent") (;6;) (canon lower (func $get-agent) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $flowhost:flow/agents@0.1.0 "[method]agent.spawn" (func $"[method]agent.spawn" (;1;)))
  (core func $"#core-func7 indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn" (@name "indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn") (;7;) (canon lower (func $"[method]agent.spawn") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $flowhost:flow/agents@0.1.0 "[method]session.run" (func $"[method]session.run" (;2;)))
  (core func $"#core-func8 indirect-flowhost:flow/agents@0.1.0-[method]session.run" (@name "indirect-flowhost:flow/agents@0.1.0-[method]session.run") (;8;) (canon lower (func $"[method]session.run") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $flowhost:flow/context@0.1.0 "log" (func $log (;3;)))
  (core func $"#core-func9 indirect-flowhost:flow/context@0.1.0-log" (@name "indirect-flowhost:flow/context@0.1.0-log") (;9;) (canon lower (func $log) (memory $memory) string-encoding=utf8))
  (core instance $actual (;4;)
    (export "0" (func $"#core-func6 indirect-flowhost:flow/agents@0.1.0-get-agent"))
    (export "1" (func $"#core-func7 indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn"))
    (export "2" (func $"#core-func8 indirect-flowhost:flow/agents@0.1.0-[method]session.run"))
    (export "3" (func $"#core-func9 indirect-flowhost:flow/context@0.1.0-log"))
  )
  (core instance $fixup (;5;) (instantiate $wit-component-fixup
      (with "actual" (instance $actual))
      (with "shim" (instance $wit-component-shim-instance))
    )
  )
  (type (;14;) (func (result $"#type10 json")))
  (alias core export $main "describe" (core func $describe (;10;)))
  (func $describe (;4;) (type 14) (canon lift (core func $describe) (memory $memory) string-encoding=utf8))
  (export $"#func5 describe" (@name "describe") (;5;) "describe" (func $describe))
  (type (;15;) (result $"#type10 json" (error $"#type12 error")))
  (type (;16;) (func async (param "task" string) (result 15)))
  (alias core export $main "run" (core func $run (;11;)))
  (func $run (;6;) (type 16) (canon lift (core func $run) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (export $"#func7 run" (@name "run") (;7;) "run" (func $run))
  (@producers
    (processed-by "wit-component" "0.263.0")
  )
)
