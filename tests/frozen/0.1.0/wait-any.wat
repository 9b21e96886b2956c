;; A component of contract 0.1.0: starts two turns, and answers what the one said that ended first.
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
      (export (;1;) "process" (type (sub resource)))
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
      (export (;17;) "turn" (type (sub resource)))
      (alias outer 1 $usage (type (;18;)))
      (export (;19;) "usage" (type (eq 18)))
      (type (;20;) (record (field "text" string) (field "value" 12) (field "usage" 19)))
      (export (;21;) "answer" (type (eq 20)))
      (export (;22;) "watch" (type (sub resource)))
      (type (;23;) (borrow 7))
      (type (;24;) (own 17))
      (type (;25;) (result 24 (error 2)))
      (type (;26;) (func (param "self" 23) (param "prompt" string) (param "options" 16) (result 25)))
      (export (;0;) "[method]session.start" (func (type 26)))
      (type (;27;) (borrow 17))
      (type (;28;) (result 21 (error 2)))
      (type (;29;) (func async (param "self" 27) (result 28)))
      (export (;1;) "[method]turn.wait" (func (type 29)))
      (type (;30;) (borrow 0))
      (type (;31;) (borrow 4))
      (type (;32;) (option 31))
      (type (;33;) (option string))
      (type (;34;) (own 7))
      (type (;35;) (result 34 (error 2)))
      (type (;36;) (func (param "self" 30) (param "at" 32) (param "directory" 33) (param "when-busy" 6) (result 35)))
      (export (;2;) "[method]agent.spawn" (func (type 36)))
      (type (;37;) (own 0))
      (type (;38;) (option 37))
      (type (;39;) (result 38 (error 2)))
      (type (;40;) (func (param "role" string) (result 39)))
      (export (;3;) "get-agent" (func (type 40)))
    )
  )
  (import "flowhost:flow/agents@0.1.0" (instance $flowhost:flow/agents@0.1.0 (;2;) (type $ty-flowhost:flow/agents@0.1.0)))
  (type $ty-flowhost:flow/flows@0.1.0 (;8;)
    (instance
      (export (;0;) "branch" (type (sub resource)))
    )
  )
  (import "flowhost:flow/flows@0.1.0" (instance $flowhost:flow/flows@0.1.0 (;3;) (type $ty-flowhost:flow/flows@0.1.0)))
  (alias export $flowhost:flow/agents@0.1.0 "turn" (type $turn (;9;)))
  (alias export $flowhost:flow/envs@0.1.0 "process" (type $process (;10;)))
  (alias export $flowhost:flow/flows@0.1.0 "branch" (type $branch (;11;)))
  (alias export $flowhost:flow/agents@0.1.0 "watch" (type $watch (;12;)))
  (type $ty-flowhost:flow/waiting@0.1.0 (;13;)
    (instance
      (alias outer 1 $turn (type (;0;)))
      (export (;1;) "turn" (type (eq 0)))
      (alias outer 1 $process (type (;2;)))
      (export (;3;) "process" (type (eq 2)))
      (alias outer 1 $branch (type (;4;)))
      (export (;5;) "branch" (type (eq 4)))
      (alias outer 1 $watch (type (;6;)))
      (export (;7;) "watch" (type (eq 6)))
      (type (;8;) (borrow 1))
      (type (;9;) (borrow 3))
      (type (;10;) (borrow 5))
      (type (;11;) (borrow 7))
      (type (;12;) (variant (case "turn" 8) (case "process" 9) (case "branch" 10) (case "watch" 11)))
      (export (;13;) "awaited" (type (eq 12)))
      (type (;14;) (list 13))
      (type (;15;) (option u64))
      (type (;16;) (list u32))
      (type (;17;) (func async (param "on" 14) (param "timeout-ms" 15) (result 16)))
      (export (;0;) "wait-any" (func (type 17)))
    )
  )
  (import "flowhost:flow/waiting@0.1.0" (instance $flowhost:flow/waiting@0.1.0 (;4;) (type $ty-flowhost:flow/waiting@0.1.0)))
  (alias export $flowhost:flow/types@0.1.0 "json" (type $"#type14 json" (@name "json") (;14;)))
  (import "json" (type $"#type15 json" (@name "json") (;15;) (eq $"#type14 json")))
  (alias export $flowhost:flow/types@0.1.0 "error" (type $"#type16 error" (@name "error") (;16;)))
  (import "error" (type $"#type17 error" (@name "error") (;17;) (eq $"#type16 error")))
  (core module $main (;0;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32)))
    (type (;3;) (func (param i32 i32 i32 i64 i32)))
    (type (;4;) (func (result i32)))
    (type (;5;) (func (param i32 i32) (result i32)))
    (type (;6;) (func (param i32 i32 i32 i32) (result i32)))
    (import "flowhost:flow/agents@0.1.0" "get-agent" (func $get-agent (;0;) (type 0) (param i32 i32 i32)))
    (import "flowhost:flow/agents@0.1.0" "[method]agent.spawn" (func $spawn (;1;) (type 1) (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "flowhost:flow/agents@0.1.0" "[method]session.start" (func $start (;2;) (type 2) (param i32 i32)))
    (import "flowhost:flow/agents@0.1.0" "[method]turn.wait" (func $wait (;3;) (type 2) (param i32 i32)))
    (import "flowhost:flow/waiting@0.1.0" "wait-any" (func $wait-any (;4;) (type 3) (param i32 i32 i32 i64 i32)))
    (memory (;0;) 1)
    (global $free (;0;) (mut i32) i32.const 4096)
    (export "memory" (memory 0))
    (export "describe" (func 5))
    (export "run" (func 8))
    (export "cabi_realloc" (func 9))
    (func (;5;) (type 4) (result i32)
      i32.const 16
      i32.const 1024
      i32.store
      i32.const 20
      i32.const 80
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
    (func $turn (;7;) (type 5) (param $task i32) (param $length i32) (result i32)
      i32.const 140
      i32.load
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 0
      i32.const 384
      call $spawn
      i32.const 384
      i32.load8_u
      if ;; label = @1
        i32.const 0
        return
      end
      i32.const 256
      i32.const 392
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
      call $start
      i32.const 384
      i32.load8_u
      if ;; label = @1
        i32.const 0
        return
      end
      i32.const 392
      i32.load
    )
    (func (;8;) (type 5) (param $task i32) (param $length i32) (result i32)
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
      i32.const 804
      local.get $task
      local.get $length
      call $turn
      i32.store
      i32.const 804
      i32.load
      i32.eqz
      if ;; label = @1
        i32.const 384
        return
      end
      i32.const 812
      local.get $task
      local.get $length
      call $turn
      i32.store
      i32.const 812
      i32.load
      i32.eqz
      if ;; label = @1
        i32.const 384
        return
      end
      i32.const 800
      i32.const 2
      i32.const 1
      i64.const 60000
      i32.const 840
      call $wait-any
      i32.const 844
      i32.load
      i32.eqz
      if ;; label = @1
        unreachable
      end
      i32.const 804
      i32.const 840
      i32.load
      i32.load
      i32.const 8
      i32.mul
      i32.add
      i32.load
      i32.const 384
      call $wait
      i32.const 384
      i32.load8_u
      if ;; label = @1
        i32.const 384
        return
      end
      i32.const 392
      i32.load
      i32.const 396
      i32.load
      call $answer
    )
    (func (;9;) (type 6) (param i32 i32 i32 i32) (result i32)
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
    (data (;0;) (i32.const 1024) "{\22contract\22:\220.1.0\22,\22name\22:\22wait-any\22,\22hidden\22:true,\22agents\22:[{\22name\22:\22agent\22}]}")
    (data (;1;) (i32.const 600) "agent")
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core module $wit-component-shim-module (;1;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32)))
    (type (;3;) (func (param i32 i32 i32 i64 i32)))
    (table (;0;) 5 5 funcref)
    (export "0" (func 0))
    (export "1" (func 1))
    (export "2" (func 2))
    (export "3" (func 3))
    (export "4" (func 4))
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
    (func (;4;) (type 3) (param i32 i32 i32 i64 i32)
      local.get 0
      local.get 1
      local.get 2
      local.get 3
      local.get 4
      i32.const 4
      call_indirect (type 3)
    )
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (core instance $wit-component-shim-instance (;0;) (instantiate $wit-component-shim-module))
  (alias core export $wit-component-shim-instance "0" (core func $indirect-flowhost:flow/agents@0.1.0-get-agent (;0;)))
  (alias core export $wit-component-shim-instance "1" (core func $"indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn" (;1;)))
  (alias core export $wit-component-shim-instance "2" (core func $"indirect-flowhost:flow/agents@0.1.0-[method]session.start" (;2;)))
  (alias core export $wit-component-shim-instance "3" (core func $"indirect-flowhost:flow/agents@0.1.0-[method]turn.wait" (;3;)))
  (core instance $flowhost:flow/agents@0.1.0 (;1;)
    (export "get-agent" (func $indirect-flowhost:flow/agents@0.1.0-get-agent))
    (export "[method]agent.spawn" (func $"indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn"))
    (export "[method]session.start" (func $"indirect-flowhost:flow/agents@0.1.0-[method]session.start"))
    (export "[method]turn.wait" (func $"indirect-flowhost:flow/agents@0.1.0-[method]turn.wait"))
  )
  (alias core export $wit-component-shim-instance "4" (core func $indirect-flowhost:flow/waiting@0.1.0-wait-any (;4;)))
  (core instance $flowhost:flow/waiting@0.1.0 (;2;)
    (export "wait-any" (func $indirect-flowhost:flow/waiting@0.1.0-wait-any))
  )
  (core instance $main (;3;) (instantiate $main
      (with "flowhost:flow/agents@0.1.0" (instance $flowhost:flow/agents@0.1.0))
      (with "flowhost:flow/waiting@0.1.0" (instance $flowhost:flow/waiting@0.1.0))
    )
  )
  (alias core export $main "memory" (core memory $memory (;0;)))
  (core module $wit-component-fixup (;2;)
    (type (;0;) (func (param i32 i32 i32)))
    (type (;1;) (func (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (type (;2;) (func (param i32 i32)))
    (type (;3;) (func (param i32 i32 i32 i64 i32)))
    (import "actual" "0" (func (;0;) (type 0) (param i32 i32 i32)))
    (import "actual" "1" (func (;1;) (type 1) (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "actual" "2" (func (;2;) (type 2) (param i32 i32)))
    (import "actual" "3" (func (;3;) (type 2) (param i32 i32)))
    (import "actual" "4" (func (;4;) (type 3) (param i32 i32 i32 i64 i32)))
    (import "shim" "$imports" (table (;0;) 5 5 funcref))
    (elem (;0;) (i32.const 0) func 0 1 2 3 4)
    (@producers
      (processed-by "wit-component" "0.263.0")
    )
  )
  (alias export $flowhost:flow/agents@0.1.0 "get-agent" (func $get-agent (;0;)))
  (alias core export $main "cabi_realloc" (core func $cabi_realloc (;5;)))
  (core func $"#core-func6 indirect-flowhost:flow/agents@0.1.0-get-agent" (@name "indirect-flowhost:flow/agents@0.1.0-get-agent") (;6;) (canon lower (func $get-agent) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $flowhost:flow/agents@0.1.0 "[method]agent.spawn" (func $"[method]agent.spawn" (;1;)))
  (core func $"#core-func7 indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn" (@name "indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn") (;7;) (canon lower (func $"[method]agent.spawn") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $flowhost:flow/agents@0.1.0 "[method]session.start" (func $"[method]session.start" (;2;)))
  (core func $"#core-func8 indirect-flowhost:flow/agents@0.1.0-[method]session.start" (@name "indirect-flowhost:flow/agents@0.1.0-[method]session.start") (;8;) (canon lower (func $"[method]session.start") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $flowhost:flow/agents@0.1.0 "[method]turn.wait" (func $"[method]turn.wait" (;3;)))
  (core func $"#core-func9 indirect-flowhost:flow/agents@0.1.0-[method]turn.wait" (@name "indirect-flowhost:flow/agents@0.1.0-[method]turn.wait") (;9;) (canon lower (func $"[method]turn.wait") (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (alias export $flowhost:flow/waiting@0.1.0 "wait-any" (func $wait-any (;4;)))
  (core func $"#core-func10 indirect-flowhost:flow/waiting@0.1.0-wait-any" (@name "indirect-flowhost:flow/waiting@0.1.0-wait-any") (;10;) (canon lower (func $wait-any) (memory $memory) (realloc $cabi_realloc)))
  (core instance $actual (;4;)
    (export "0" (func $"#core-func6 indirect-flowhost:flow/agents@0.1.0-get-agent"))
    (export "1" (func $"#core-func7 indirect-flowhost:flow/agents@0.1.0-[method]agent.spawn"))
    (export "2" (func $"#core-func8 indirect-flowhost:flow/agents@0.1.0-[method]session.start"))
    (export "3" (func $"#core-func9 indirect-flowhost:flow/agents@0.1.0-[method]turn.wait"))
    (export "4" (func $"#core-func10 indirect-flowhost:flow/waiting@0.1.0-wait-any"))
  )
  (core instance $fixup (;5;) (instantiate $wit-component-fixup
      (with "actual" (instance $actual))
      (with "shim" (instance $wit-component-shim-instance))
    )
  )
  (type (;18;) (func (result $"#type15 json")))
  (alias core export $main "describe" (core func $describe (;11;)))
  (func $describe (;5;) (type 18) (canon lift (core func $describe) (memory $memory) string-encoding=utf8))
  (export $"#func6 describe" (@name "describe") (;6;) "describe" (func $describe))
  (type (;19;) (result $"#type15 json" (error $"#type17 error")))
  (type (;20;) (func async (param "task" string) (result 19)))
  (alias core export $main "run" (core func $run (;12;)))
  (func $run (;7;) (type 20) (canon lift (core func $run) (memory $memory) (realloc $cabi_realloc) string-encoding=utf8))
  (export $"#func8 run" (@name "run") (;8;) "run" (func $run))
  (@producers
    (processed-by "wit-component" "0.263.0")
  )
)
