#!/bin/sh
# Prolog of slurmd (slurm.conf: Prolog=/etc/slurm/prolog.sh, PrologFlags=Alloc): drains a node that is not one of
# the machines of an expectation file, with the reason. latlas help fit
#
#   LATLAS            the program            (/usr/bin/latlas)
#   LATLAS_EXPECT     the expectation file   (/etc/latlas/fleet.json)
#   LATLAS_TRIES      measurements of a node that is not quiet  (3)
#   LATLAS_DRAIN_NOISY=1   drain a node that was not quiet in any of them; else it is used
LATLAS=${LATLAS:-/usr/bin/latlas}
LATLAS_EXPECT=${LATLAS_EXPECT:-/etc/latlas/fleet.json}
node=${SLURMD_NODENAME:-$(uname -n)}

tries=${LATLAS_TRIES:-3}
case $tries in *[!0-9]*) tries=3 ;; esac
while :; do
    reason=$("$LATLAS" fit --expect "$LATLAS_EXPECT" --drain-reason)
    code=$?
    tries=$((tries - 1))
    [ "$code" = 3 ] && [ "$tries" -gt 0 ] || break
done

case $code in
1) ;;
3)
    echo "$node: $reason" >&2
    [ "${LATLAS_DRAIN_NOISY:-0}" = 1 ] || exit 0
    ;;
0) exit 0 ;;
*)
    # latlas can't be run here, or has no expectation: that is no fault of the node.
    echo "$node: latlas fit exited with $code" >&2
    exit 0
    ;;
esac
scontrol update NodeName="$node" State=DRAIN Reason="$reason"
# The job is requeued on another node.
exit 1
