#!/bin/sh
# Stands in for the linker, or before the compiler that links: keeps the words of each link of an executable, and the
# files that the compiler removes after it, so that it can be linked again with another layout. Then it links as asked.
linker=${LATLAS_LINKER:-cc}
output=
before=
for word in "$@"; do
  [ "$before" = -o ] && output=$word
  case $word in @* | -shared) output=none ;; esac
  before=$word
done
case $output in
  none | *build_script* | '') ;;
  *)
    case $output in */*) at=${output%/*} ;; *) at=. ;; esac
    # By its whole path: several may have one name.
    keep=${0%/*}/links$(cd "$at" && pwd -P)/${output##*/}
    if mkdir -p "$keep"; then
      n=0
      before=
      {
        printf '%s\0' "$linker"
        for word in "$@"; do
          if [ "$before" != -o ] && [ -f "$word" ]; then
            case $word in
              *.o | */rustc*/*)
                copy=$keep/$n.${word##*.}
                if ln -f "$word" "$copy" 2> /dev/null || cp "$word" "$copy"; then
                  word=$copy
                  n=$((n + 1))
                fi
                ;;
              /*) ;;
              *) word=$PWD/$word ;;
            esac
          fi
          before=$word
          printf '%s\0' "$word"
        done
      } > "$keep/words"
    fi
    ;;
esac
exec "$linker" "$@"
