#!/bin/bash
# Runs the operations of a command-line tool: commands.sh TOOL prints a line for each, in the format of operations.py.
set -u
tool=$1
host=${STORE_ENDPOINT#*//}
cd "$STORE_FOLDER" || exit 1
export HOME=$STORE_FOLDER
mkdir -p tree/below
head -c 1000 /dev/urandom >tree/one
head -c 9000000 /dev/urandom >tree/below/two
: >tree/empty

operation() {
    local name=$1
    shift
    local said
    if said=$("$@" 2>&1); then
        echo "PASS $name"
    else
        echo "FAIL $name: $(tr '\n' ' ' <<<"$said" | tail -c 400)"
    fi
}

same() { diff -r tree "$1"; }

case $tool in
rclone)
    cat >rclone.conf <<END
[store]
type = s3
provider = Other
endpoint = $STORE_ENDPOINT
access_key_id = $STORE_KEY
secret_access_key = $STORE_SECRET
END
    export RCLONE_CONFIG=$PWD/rclone.conf
    at=store:$STORE_BUCKET/rclone
    r() { rclone --retries 1 --low-level-retries 1 "$@"; }
    nothing() { ! r copy -v tree "$at" 2>&1 | grep -E 'Copied|Updated|ERROR'; }
    operation copy r copy --s3-upload-cutoff 5M --s3-chunk-size 5M tree "$at"
    operation "copy again moves nothing" nothing
    operation "sync twice" r sync tree "$at"
    operation check r check --download tree "$at"
    operation lsd r lsd store:
    operation "lsl with times" r lsl "$at"
    operation cat r cat "$at/one"
    operation "copy back" r copy "$at" rclone-back
    operation "copied tree is the same" same rclone-back
    operation "copyto within the store" r copyto "$at/one" "$at/copied"
    operation moveto r moveto "$at/copied" "$at/moved"
    operation touch r touch "$at/moved"
    operation rcat bash -c 'echo text | rclone --retries 1 rcat "'"$at"'/piped"'
    operation mkdir r mkdir "$at"
    operation link r link "$at/one"
    operation "move of a tree" r move "$at" "store:$STORE_BUCKET/rclone-moved"
    operation "list of multipart uploads" r backend list-multipart-uploads "store:$STORE_BUCKET"
    operation cleanup r cleanup "store:$STORE_BUCKET"
    operation purge r purge "store:$STORE_BUCKET/rclone-moved"
    ;;
restic)
    export AWS_ACCESS_KEY_ID=$STORE_KEY AWS_SECRET_ACCESS_KEY=$STORE_SECRET RESTIC_PASSWORD=password
    export RESTIC_REPOSITORY=s3:$STORE_ENDPOINT/$STORE_BUCKET/restic
    operation init restic init
    operation backup restic backup tree
    operation "check --read-data" restic check --read-data
    operation restore restic restore latest --target restic-back
    operation "restored tree is the same" same restic-back/tree
    operation "backup again" restic backup tree
    operation "forget --prune" restic forget --keep-last 1 --prune
    operation prune restic prune
    operation unlock restic unlock
    ;;
s3cmd)
    cat >s3cfg <<END
[default]
access_key = $STORE_KEY
secret_key = $STORE_SECRET
host_base = $host
host_bucket = $host
use_https = False
signature_v2 = False
END
    s() { s3cmd -c s3cfg --no-progress "$@"; }
    at=s3://$STORE_BUCKET/s3cmd
    operation "ls of the buckets" s ls
    operation "sync up" s sync --multipart-chunk-size-mb=5 tree/ "$at/"
    operation "sync up again" s sync tree/ "$at/"
    operation ls s ls -r "$at/"
    operation "sync down" bash -c "mkdir -p s3cmd-back; s3cmd -c s3cfg --no-progress sync '$at/' s3cmd-back/"
    operation "synced tree is the same" same s3cmd-back
    operation info s info "$at/one"
    operation "info of the bucket" s info "s3://$STORE_BUCKET"
    operation cp s cp "$at/one" "$at/copied"
    operation mv s mv "$at/copied" "$at/moved"
    operation modify s modify --add-header=Cache-Control:no-cache "$at/moved"
    operation multipart s multipart "s3://$STORE_BUCKET"
    operation signurl bash -c "curl -sf \$(s3cmd -c s3cfg signurl '$at/one' +60) -o s3cmd-one && cmp s3cmd-one tree/one"
    operation "du" s du "$at/"
    operation "del of one" s del "$at/moved"
    operation "del -r" s del -r -f "$at/"
    ;;
s5cmd)
    export AWS_ACCESS_KEY_ID=$STORE_KEY AWS_SECRET_ACCESS_KEY=$STORE_SECRET AWS_REGION=us-east-1
    export S3_ENDPOINT_URL=$STORE_ENDPOINT
    at=s3://$STORE_BUCKET/s5cmd
    operation "ls of the buckets" s5cmd ls
    operation "cp of a tree" s5cmd cp -p 5 tree/ "$at/"
    operation "sync again" s5cmd sync tree/ "$at/"
    operation ls s5cmd ls "$at/*"
    operation cat s5cmd cat "$at/one"
    operation "cp back" s5cmd cp "$at/*" s5cmd-back/
    operation "copied tree is the same" same s5cmd-back
    operation "cp within the store" s5cmd cp "$at/one" "$at/copied"
    operation mv s5cmd mv "$at/copied" "$at/moved"
    operation "sync --delete" s5cmd sync --delete tree/ "$at/"
    operation presign s5cmd presign "$at/one"
    operation rm s5cmd rm "$at/*"
    ;;
awscli)
    export AWS_ACCESS_KEY_ID=$STORE_KEY AWS_SECRET_ACCESS_KEY=$STORE_SECRET AWS_REGION=us-east-1
    export AWS_ENDPOINT_URL=$STORE_ENDPOINT AWS_CONFIG_FILE=$PWD/aws.conf AWS_EC2_METADATA_DISABLED=true
    printf '[default]\ns3 =\n  multipart_threshold = 5MB\n  multipart_chunksize = 5MB\n  signature_version = s3v4\n' >aws.conf
    at=s3://$STORE_BUCKET/awscli
    operation "ls of the buckets" aws s3 ls
    operation "sync up" aws s3 sync tree "$at"
    operation "sync up again" aws s3 sync tree "$at"
    operation "sync down" aws s3 sync "$at" awscli-back
    operation "synced tree is the same" same awscli-back
    operation "cp within the store, whole" aws s3 cp "$at/one" "$at/copied"
    operation "cp within the store, in parts" aws s3 cp "$at/below/two" "$at/copied-two"
    operation mv aws s3 mv "$at/copied" "$at/moved"
    operation "cp with metadata" aws s3 cp tree/one "$at/fields" --metadata a=b --content-encoding gzip --cache-control no-cache
    operation head-object aws s3api head-object --bucket "$STORE_BUCKET" --key awscli/fields
    operation get-object-attributes aws s3api get-object-attributes --bucket "$STORE_BUCKET" --key awscli/one \
        --object-attributes ETag ObjectSize
    operation put-object-tagging aws s3api put-object-tagging --bucket "$STORE_BUCKET" --key awscli/one \
        --tagging 'TagSet=[{Key=a,Value=b}]'
    operation list-multipart-uploads aws s3api list-multipart-uploads --bucket "$STORE_BUCKET"
    operation presign bash -c "curl -sf \$(aws s3 presign '$at/one') -o awscli-one && cmp awscli-one tree/one"
    operation "sync --delete" aws s3 sync --delete tree "$at"
    operation "rm --recursive" aws s3 rm --recursive "$at"
    ;;
juicefs)
    for kind in s3 minio; do
        juicefs objbench --storage "$kind" --access-key "$STORE_KEY" --secret-key "$STORE_SECRET" --threads 2 \
            --small-objects 10 --big-object-size 12 "$STORE_ENDPOINT/$STORE_BUCKET" >"$kind.txt" 2>&1
        while IFS='|' read -r _ category name result _; do
            read -r category <<<"$category"
            read -r name <<<"$name"
            read -r result <<<"$result"
            case $category:$result in
            basic:pass | sync:pass) echo "PASS $kind $name" ;;
            # Of file systems: no object store has it.
            sync:"not support") ;;
            basic:* | sync:*) echo "FAIL $kind $name: $result" ;;
            esac
        done <"$kind.txt"
        operation "$kind benchmark" grep "Benchmark finished" "$kind.txt"
    done
    ;;
*)
    echo "FAIL start: $tool is not among the tools"
    ;;
esac
