/* What the flow's texts are in: blocks, one after the other, that end with the flow. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* Most of what is asked for is small; what is larger has a block of its own. */
enum { BLOCK = 64 << 10 };

typedef struct block {
  struct block *before;
  size_t used, size;
  _Alignas(max_align_t) char bytes[];
} block;

static block *top;

static block *push(size_t size) {
  block *made = malloc(sizeof(block) + size);
  /* The host says which limit it was: the flow's memory. */
  if (!made) abort();
  *made = (block){ .before = top, .used = 0, .size = size };
  return top = made;
}

void *fh_alloc(size_t size) {
  const size_t align = _Alignof(max_align_t);
  /* Beyond what any memory has; rounding up would begin at 0 again. */
  if (size > SIZE_MAX / 2) abort();
  size = (size + align - 1) / align * align;
  if (!top || top->size - top->used < size) push(size > BLOCK ? size : BLOCK);
  void *given = top->bytes + top->used;
  top->used += size;
  return given;
}

fh_memory fh_mark(void) {
  return (fh_memory){ top, top ? top->used : 0 };
}

void fh_release(fh_memory mark) {
  while (top != mark.block) {
    block *gone = top;
    top = gone->before;
    free(gone);
  }
  if (top) top->used = mark.used;
}

fh_text fh_copy(const void *data, size_t length) {
  char *copy = fh_alloc(length + 1);
  if (length) memcpy(copy, data, length);
  copy[length] = 0;
  return (fh_text){ copy, length };
}

static fh_text formatted(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(NULL, 0, format, arguments);
  if (length < 0) {
    va_end(again);
    return fh_copy("", 0);
  }
  char *text = fh_alloc((size_t)length + 1);
  vsnprintf(text, (size_t)length + 1, format, again);
  va_end(again);
  return (fh_text){ text, (size_t)length };
}

fh_text fh_format(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const fh_text text = formatted(format, arguments);
  va_end(arguments);
  return text;
}

const fh_error *fh_failed(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const fh_text message = formatted(format, arguments);
  va_end(arguments);
  return fh_make_error(FH_FAILED, message);
}

void fh_log(const char *format, ...) {
  const fh_memory mark = fh_mark();
  va_list arguments;
  va_start(arguments, format);
  flow_string_t line = fh_lower_text(formatted(format, arguments));
  va_end(arguments);
  CONTEXT(log)(&line);
  fh_release(mark);
}
