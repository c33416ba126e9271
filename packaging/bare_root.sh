#!/usr/bin/env bash
# Try the README's two commands in Debian roots with nothing on them; as root, on Debian or Ubuntu.
#
#   packaging/bare_root.sh [RELEASE …]      bookworm and trixie (12 and 13), if none is named
#
# In each root: `make run` until its window stands, a picture of the window, one run of the bundled
# agent on the embedded model, a window on a real (virtual) screen, and `make test`. What is committed
# is what is tried. Roots stay below build/bare/ and are used again; remove them to begin anew.
#
#   MIRROR=…       where packages come from (http://deb.debian.org/debian)
#   SETUP=FILE     a script that is called with the root's folder once it is made, for a machine that
#                  reaches its mirrors by settings of its own (apt's, pip's)
#   TESTS=no       leave `make test` out
#   MINUTES=60     how long `make test` may take
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
packages=ca-certificates,make,git,python3,python3-venv,python3-pip
failed=()
mounted=()

[ "$(id -u)" = 0 ] || { echo "bare_root: making a root needs root"; exit 2; }
command -v debootstrap >/dev/null || { echo "bare_root: apt-get install debootstrap"; exit 2; }

let_go() {
  for place in "${mounted[@]}"; do
    umount --lazy "$place" || echo "bare_root: $place is still mounted" >&2
  done
  mounted=()
}
trap let_go EXIT

# inside ROOT COMMAND: run it in the checkout, with nothing of this machine's environment
inside() {
  chroot "$1" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
    PROMPT_STUDIO_HOME=/tmp/studio PYTHON_KEYRING_BACKEND=keyring.backends.fail.Keyring \
    bash -c "cd /root/studio || exit; $2"
}

# step NAME COMMAND …: run it, say how it went and how long it took; a failure is remembered
step() {
  local name=$1 began=$SECONDS
  shift
  if "$@" >"$log" 2>&1; then
    echo "  fine    $name ($((SECONDS - began)) s)"
  else
    echo "  FAILED  $name ($((SECONDS - began)) s); the end of its output:"
    tail -25 "$log" | sed 's/^/    | /'
    failed+=("$release: $name")
  fi
}

make_root() {
  debootstrap --variant=minbase --include="$packages" "$release" "$root" "$mirror" &&
    { [ -z "${SETUP:-}" ] || "$SETUP" "$root"; } && touch "$root/.made"
}

fetch_checkout() {
  rm -rf "$root/root/studio" "$root/tmp/studio" && git clone -q --no-local "$here" "$root/root/studio"
}

# `make run` stays until its window is closed: wait for the mark that it leaves when it stands.
run_the_window() {
  inside "$root" '
    QT_QPA_PLATFORM=offscreen setsid make run & studio=$!
    for _ in $(seq 1200); do
      [ -e /tmp/studio/data/instance ] && break
      kill -0 $studio || exit 1
      sleep 1
    done
    test -e /tmp/studio/data/instance || exit 1
    sleep 5
    kill -TERM -- -$studio || exit 1
    wait $studio || echo "it was ended ($?)"
    test -d /tmp/studio/data/log && ! grep -rE "Traceback|ERROR" /tmp/studio/data/log'
}

releases=("$@")
[ ${#releases[@]} -gt 0 ] || releases=(bookworm trixie)
for release in "${releases[@]}"; do
  root=$here/build/bare/$release
  log=$here/build/bare/$release.log
  mkdir -p "$here/build/bare"
  echo "== $release"
  [ -e "$root/.made" ] || step "a root with nothing on it" make_root
  [ -e "$root/.made" ] || continue
  for place in proc sys dev dev/pts; do
    mount --bind "/$place" "$root/$place"
    mounted=("$root/$place" "${mounted[@]}")
  done
  step "a fresh checkout of $(git -C "$here" rev-parse --short HEAD)" fetch_checkout
  echo "  $(inside "$root" '. /etc/os-release; echo "$PRETTY_NAME, $(python3 --version)"')"
  step "make run, from nothing to a window" run_the_window
  step "a picture of the window" inside "$root" \
    '.venv/bin/prompt-studio --screenshot /tmp/window.png && test "$(stat -c %s /tmp/window.png)" -gt 20000'
  step "a run of the bundled agent" inside "$root" \
    '.venv/bin/prompt-studio run resources/examples/react-agent.prompty -i "question=What is 128 * 46?"'
  tail -3 "$log" | sed 's/^/    | /'
  if [ "${TESTS:-yes}" != no ]; then
    step "make test" inside "$root" "timeout ${MINUTES:-60}m nice make test"
    tail -3 "$log" | sed 's/^/    | /'
    step "a window on a virtual screen" inside "$root" \
      'xvfb-run -a .venv/bin/prompt-studio --screenshot /tmp/screen.png && test "$(stat -c %s /tmp/screen.png)" -gt 20000'
  fi
  let_go
done

if [ ${#failed[@]} -gt 0 ]; then
  printf 'failed: %s\n' "${failed[@]}"
  exit 1
fi
echo "all fine"
