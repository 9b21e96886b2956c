/* JSON: written in pieces, and read as far as the host's own documents need it. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* -- Writing -- */

static void put(fh_json *to, const char *data, size_t length) {
  if (to->room - to->length < length) {
    if (length > SIZE_MAX / 4 || to->length > SIZE_MAX / 4) abort();
    const size_t room = (to->length + length) * 2 + 64;
    char *data_there = fh_alloc(room);
    if (to->length) memcpy(data_there, to->data, to->length);
    to->data = data_there;
    to->room = room;
  }
  memcpy(to->data + to->length, data, length);
  to->length += length;
}

/* What stands before a value or a key. */
static void before(fh_json *to) {
  if (to->comma) put(to, ",", 1);
  to->comma = true;
}

static void quoted(fh_json *to, fh_text text) {
  static const char digits[] = "0123456789abcdef";
  const flow_string_t good = fh_lower_text(text);
  put(to, "\"", 1);
  for (size_t at = 0, from = 0; at <= good.len; at++) {
    const unsigned char each = at < good.len ? good.ptr[at] : '"';
    if (each >= 0x20 && each != '"' && each != '\\') continue;
    put(to, (const char *)good.ptr + from, at - from);
    from = at + 1;
    if (at == good.len) break;
    const char escaped[] = { '\\', 'u', '0', '0', digits[each >> 4], digits[each & 15] };
    const char itself[] = { '\\', (char)each };
    if (each < 0x20) put(to, escaped, sizeof escaped);
    else put(to, itself, sizeof itself);
  }
  put(to, "\"", 1);
}

void fh_json_object(fh_json *to) {
  before(to);
  put(to, "{", 1);
  to->comma = false;
}

void fh_json_end_object(fh_json *to) {
  put(to, "}", 1);
  to->comma = true;
}

void fh_json_array(fh_json *to) {
  before(to);
  put(to, "[", 1);
  to->comma = false;
}

void fh_json_end_array(fh_json *to) {
  put(to, "]", 1);
  to->comma = true;
}

void fh_json_key(fh_json *to, const char *key) {
  before(to);
  quoted(to, (fh_text){ key, strlen(key) });
  put(to, ":", 1);
  to->comma = false;
}

void fh_json_text(fh_json *to, fh_text text) {
  before(to);
  quoted(to, text);
}

void fh_json_string(fh_json *to, const char *text) {
  fh_json_text(to, (fh_text){ text, strlen(text) });
}

void fh_json_integer(fh_json *to, int64_t number) {
  char digits[24];
  before(to);
  put(to, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)number));
}

void fh_json_double(fh_json *to, double number) {
  char digits[40] = "null";
  before(to);
  if (isfinite(number)) {
    /* The shortest that is the same number again. */
    for (int precision = 15; precision <= 17; precision++) {
      snprintf(digits, sizeof digits, "%.*g", precision, number);
      if (strtod(digits, NULL) == number) break;
    }
  }
  put(to, digits, strlen(digits));
}

void fh_json_bool(fh_json *to, bool value) {
  before(to);
  put(to, value ? "true" : "false", value ? 4 : 5);
}

void fh_json_null(fh_json *to) {
  before(to);
  put(to, "null", 4);
}

void fh_json_raw(fh_json *to, fh_text json) {
  before(to);
  put(to, json.data, json.length);
}

fh_text fh_json_done(const fh_json *from) {
  return fh_copy(from->data, from->length);
}

/* -- Reading -- */

typedef struct reader {
  const char *at, *end;
} reader;

static reader read_from(fh_text text) {
  return (reader){ text.data, text.data + text.length };
}

static char skip_space(reader *from) {
  while (from->at < from->end && strchr(" \t\r\n", *from->at) && *from->at) from->at++;
  return from->at < from->end ? *from->at : 0;
}

/* Past a string; `from` stands at its quote. */
static void skip_string(reader *from) {
  for (from->at++; from->at < from->end && *from->at != '"'; from->at++)
    if (*from->at == '\\' && from->end - from->at > 1) from->at++;
  if (from->at < from->end) from->at++;
}

/* The next value as it stands; the reader is past it. Depth is counted, not called: a deep document costs no stack. */
static fh_text next_value(reader *from) {
  skip_space(from);
  const char *begin = from->at;
  size_t depth = 0;
  while (from->at < from->end) {
    const char each = *from->at;
    if (each == '"') {
      skip_string(from);
    } else if (each == '{' || each == '[') {
      depth++;
      from->at++;
    } else if (each == '}' || each == ']') {
      if (depth == 0) break;
      depth--;
      from->at++;
    } else if (depth == 0 && (each == ',' || each == ':' || strchr(" \t\r\n", each))) {
      break;
    } else {
      from->at++;
      continue;
    }
    if (depth == 0) break;
  }
  return (fh_text){ begin, (size_t)(from->at - begin) };
}

/* Steps into an object or array, or over the comma to the next; false where there is none. */
static bool step(reader *from) {
  const char each = skip_space(from);
  if (each != '{' && each != '[' && each != ',') return false;
  from->at++;
  const char next = skip_space(from);
  return next && next != '}' && next != ']';
}

bool fh_json_member(fh_text object, const char *key, fh_text *value) {
  reader from = read_from(object);
  if (skip_space(&from) != '{') return false;
  while (step(&from)) {
    fh_text name;
    if (!fh_json_as_text(next_value(&from), &name) || skip_space(&from) != ':') return false;
    from.at++;
    const fh_text found = next_value(&from);
    if (fh_text_is(name, key)) {
      *value = fh_copy(found.data, found.length);
      return true;
    }
  }
  return false;
}

bool fh_json_element(fh_text array, size_t nth, fh_text *value) {
  reader from = read_from(array);
  if (skip_space(&from) != '[') return false;
  while (step(&from)) {
    const fh_text found = next_value(&from);
    if (nth-- == 0) {
      *value = fh_copy(found.data, found.length);
      return true;
    }
  }
  return false;
}

static uint32_t four_digits(const char *at) {
  char digits[5] = { at[0], at[1], at[2], at[3], 0 };
  return (uint32_t)strtoul(digits, NULL, 16);
}

static size_t encode(char *to, uint32_t code) {
  if (code < 0x80) {
    to[0] = (char)code;
    return 1;
  }
  if (code < 0x800) {
    to[0] = (char)(0xc0 | code >> 6);
    to[1] = (char)(0x80 | (code & 63));
    return 2;
  }
  if (code < 0x10000) {
    to[0] = (char)(0xe0 | code >> 12);
    to[1] = (char)(0x80 | (code >> 6 & 63));
    to[2] = (char)(0x80 | (code & 63));
    return 3;
  }
  to[0] = (char)(0xf0 | code >> 18);
  to[1] = (char)(0x80 | (code >> 12 & 63));
  to[2] = (char)(0x80 | (code >> 6 & 63));
  to[3] = (char)(0x80 | (code & 63));
  return 4;
}

bool fh_json_as_text(fh_text value, fh_text *text) {
  if (value.length < 2 || value.data[0] != '"') return false;
  /* No escape is shorter than what it means. */
  char *made = fh_alloc(value.length);
  size_t length = 0;
  const char *end = value.data + value.length - 1;
  for (const char *at = value.data + 1; at < end; at++) {
    if (*at != '\\' || end - at < 2) {
      made[length++] = *at;
      continue;
    }
    static const char letters[] = "bfnrt", means[] = "\b\f\n\r\t";
    at++;
    if (*at == 'u' && end - at > 4) {
      uint32_t code = four_digits(at + 1);
      at += 4;
      if (code >= 0xd800 && code < 0xdc00 && end - at > 6 && at[1] == '\\' && at[2] == 'u') {
        const uint32_t low = four_digits(at + 3);
        if (low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          at += 6;
        }
      }
      length += encode(made + length, code);
    } else {
      const char *letter = strchr(letters, *at);
      made[length++] = letter && *letter ? means[letter - letters] : *at;
    }
  }
  made[length] = 0;
  *text = (fh_text){ made, length };
  return true;
}

bool fh_json_as_double(fh_text value, double *number) {
  if (value.length == 0 || value.length > 400) return false;
  const fh_text digits = fh_copy(value.data, value.length);
  char *end;
  const double read = strtod(digits.data, &end);
  if (end != digits.data + digits.length || !strchr("-0123456789", digits.data[0])) return false;
  *number = read;
  return true;
}

bool fh_json_as_integer(fh_text value, int64_t *number) {
  double read;
  if (!fh_json_as_double(value, &read)) return false;
  char *end;
  const fh_text digits = fh_copy(value.data, value.length);
  const long long whole = strtoll(digits.data, &end, 10);
  /* `1.0` and `1e3` are whole numbers too. */
  if (*end && (read != floor(read) || fabs(read) > 9007199254740992.0)) return false;
  *number = *end ? (int64_t)read : whole;
  return true;
}

bool fh_json_as_bool(fh_text value, bool *truth) {
  if (fh_text_is(value, "true")) *truth = true;
  else if (fh_text_is(value, "false")) *truth = false;
  else return false;
  return true;
}
