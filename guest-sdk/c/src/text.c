/* Texts: across the border, into lines, out of git's quotes. */

#include <stdlib.h>
#include <string.h>

#include "internal.h"

bool fh_text_is(fh_text text, const char *other) {
  return text.length == strlen(other) && memcmp(text.data, other, text.length) == 0;
}

/* How many bytes the character at `at` has; 0 where there is none. As in table 3-7 of the Unicode standard: the first byte says how
 * many, and the second is limited where a longer form, a surrogate, or what is beyond the last plane would be possible. */
static size_t character(const unsigned char *at, size_t left) {
  const unsigned char first = at[0];
  if (first < 0x80) return 1;
  size_t size;
  unsigned char least = 0x80, most = 0xbf;
  if (first >= 0xc2 && first <= 0xdf) size = 2;
  else if (first >= 0xe0 && first <= 0xef) {
    size = 3;
    if (first == 0xe0) least = 0xa0;
    if (first == 0xed) most = 0x9f;
  } else if (first >= 0xf0 && first <= 0xf4) {
    size = 4;
    if (first == 0xf0) least = 0x90;
    if (first == 0xf4) most = 0x8f;
  } else return 0;
  if (left < size || at[1] < least || at[1] > most) return 0;
  for (size_t nth = 2; nth < size; nth++)
    if (at[nth] < 0x80 || at[nth] > 0xbf) return 0;
  return size;
}

flow_string_t fh_lower_text(fh_text text) {
  const unsigned char *bytes = (const unsigned char *)text.data;
  size_t good = 0;
  while (good < text.length) {
    const size_t size = character(bytes + good, text.length - good);
    if (!size) break;
    good += size;
  }
  if (good == text.length) return (flow_string_t){ (uint8_t *)text.data, text.length };
  /* Each byte that is no character becomes one of three. */
  if (text.length > SIZE_MAX / 4) abort();
  uint8_t *mended = fh_alloc(text.length * 3);
  memcpy(mended, bytes, good);
  size_t length = good;
  for (size_t at = good; at < text.length;) {
    const size_t size = character(bytes + at, text.length - at);
    memcpy(mended + length, size ? (const void *)(bytes + at) : "\xef\xbf\xbd", size ? size : 3);
    length += size ? size : 3;
    at += size ? size : 1;
  }
  return (flow_string_t){ mended, length };
}

flow_string_t fh_lower(const char *text) {
  return text ? fh_lower_text((fh_text){ text, strlen(text) }) : (flow_string_t){ (uint8_t *)"", 0 };
}

fh_text fh_lift(flow_string_t *text) {
  const fh_text lifted = fh_copy(text->ptr, text->len);
  flow_string_free(text);
  return lifted;
}

fh_text fh_lift_bytes(flow_list_u8_t *bytes) {
  const fh_text lifted = fh_copy(bytes->ptr, bytes->len);
  flow_list_u8_free(bytes);
  *bytes = (flow_list_u8_t){ NULL, 0 };
  return lifted;
}

fh_texts fh_lift_texts(flow_list_string_t *texts) {
  fh_text *items = fh_alloc(texts->len * sizeof(fh_text));
  const size_t count = texts->len;
  for (size_t nth = 0; nth < count; nth++) items[nth] = fh_lift(&texts->ptr[nth]);
  flow_list_string_free(texts);
  return (fh_texts){ items, count };
}

fh_texts fh_lines(fh_text text) {
  size_t most = 1;
  for (size_t at = 0; at < text.length; at++) most += text.data[at] == '\n';
  fh_text *items = fh_alloc(most * sizeof(fh_text));
  size_t count = 0;
  for (size_t at = 0; at < text.length;) {
    const char *end = memchr(text.data + at, '\n', text.length - at);
    const size_t next = end ? (size_t)(end - text.data) + 1 : text.length;
    size_t length = (end ? next - 1 : next) - at;
    if (length && text.data[at + length - 1] == '\r') length--;
    if (length) items[count++] = fh_copy(text.data + at, length);
    at = next;
  }
  return (fh_texts){ items, count };
}

static bool octal(char digit) {
  return digit >= '0' && digit <= '7';
}

/* The name that git means. One with a quote, a backslash, a control character or a byte beyond ASCII stands in double quotes, with
 * escapes as in C. */
static fh_text unquoted(fh_text listed) {
  const size_t length = listed.length;
  if (length < 2 || listed.data[0] != '"' || listed.data[length - 1] != '"') return listed;
  char *name = fh_alloc(length);
  size_t made = 0;
  for (size_t at = 1; at < length - 1; at++) {
    const char *here = listed.data + at;
    const size_t left = length - 1 - at;
    if (*here != '\\' || left < 2) {
      name[made++] = *here;
    } else if (left >= 4 && octal(here[1]) && octal(here[2]) && octal(here[3])) {
      name[made++] = (char)((here[1] - '0') * 64 + (here[2] - '0') * 8 + (here[3] - '0'));
      at += 3;
    } else {
      static const char letters[] = "abtnvfr", means[] = "\a\b\t\n\v\f\r";
      const char *letter = strchr(letters, here[1]);
      name[made++] = letter && *letter ? means[letter - letters] : here[1];
      at++;
    }
  }
  name[made] = 0;
  return (fh_text){ name, made };
}

fh_texts fh_git_names(fh_text listed) {
  const fh_texts lines = fh_lines(listed);
  fh_text *items = (fh_text *)lines.items;
  for (size_t nth = 0; nth < lines.count; nth++) items[nth] = unquoted(items[nth]);
  return lines;
}
