;; as it is
;; A component that exports nothing.
(component)
