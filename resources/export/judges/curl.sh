#!/bin/sh
for argument do
  shift
  case $argument in
    http://*|https://*)
      set -- "$@" --header "x-studio-address: $argument" --noproxy '*' "$STUDIO_RECORDER" ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec "$STUDIO_CURL" "$@"
