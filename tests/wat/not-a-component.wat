;; as it is
;; A core module: WebAssembly, and no component.
(module
  (func (export "run")))
