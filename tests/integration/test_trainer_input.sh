#!/bin/bash
# What people really bring to training: a damaged picture among good ones, a header that claims ten billion pixels, one person
# only, an empty folder, a folder that is not there. Each gets a sentence; training goes on where it can, and nothing is changed.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

FIT=(fit face --image-size 32 --batch-persons 2 --batch-pictures 2 --held-out 0 --steps 2 --log plain)

# answer EXIT-CODE COMMAND…: what it says on both streams.
answer() {
    local want=$1 code=0
    shift
    "$@" >"$SCRATCH/answer" 2>&1 || code=$?
    assert_eq "exit code of $*: $(tail -n 3 "$SCRATCH/answer")" "$want" $code
    cat "$SCRATCH/answer"
}

"$TRAINER" data faces --gallery "$SCRATCH/people" --persons 4 --pictures 3 --size 64 >/dev/null
files() { (cd "$SCRATCH/people" && find . -type f | sort | xargs sha256sum); }

printf 'no picture at all' >"$SCRATCH/people/ada/900.png"
head -c 100 "$SCRATCH/people/ada/000.png" >"$SCRATCH/people/ada/901.png"
printf 'P5\n100000 100000\n255\n' >"$SCRATCH/people/ben/900.pgm"
mkdir "$SCRATCH/people/zoe"
: >"$SCRATCH/people/zoe/000.jpg"
before=$(files)
folders=$(cd "$SCRATCH/people" && find . -type d)

said=$(answer 0 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/people" --crop off)
assert_contains "the count" "4 of 16 pictures cannot be used and are left out, and with them 1 person" "$said"
assert_contains "where all names are" "'trainer data inspect $SCRATCH/people' lists all of them" "$said"
assert_contains "the first name" "ada/900.png': this file is not a picture in a supported format" "$said"
assert_contains "a cut picture" "ada/901.png': this PNG picture cannot be read" "$said"
assert_contains "the huge picture" "this picture is too large: 100000 × 100000 pixels, at most 8192 each way" "$said"
assert_contains "training goes on" "step 2/2" "$said"
assert_contains "who is trained on" "4 people to train on" "$said"
assert_eq "the pictures" "$before" "$(files)"

# Every worker leaves out the same: two give the losses of one.
losses() { sed -n 's/^step \([0-9]*\).* loss \([0-9.]*\).*/\1 \2/p' "$1"; }
answer 0 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/people" --crop off --batch-persons 4 --batch-pictures 4 >"$SCRATCH/one"
have_addresses 2
for i in 1 0; do
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$i}}" \
        "$TRAINER" "${FIT[@]}" --data "$SCRATCH/people" --crop off --batch-persons 4 --batch-pictures 4 >"$SCRATCH/two-$i" 2>&1 &
done
wait
assert_eq "losses of two workers" "$(losses "$SCRATCH/one")" "$(losses "$SCRATCH/two-0")"
assert_eq "steps told" 2 "$(losses "$SCRATCH/one" | wc -l)"

mkdir -p "$SCRATCH/alone" "$SCRATCH/empty" "$SCRATCH/broken/ada"
cp -r "$SCRATCH/people/ada" "$SCRATCH/alone/"
printf 'rubbish' >"$SCRATCH/broken/ada/1.png"
said=$(answer 1 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/alone" --crop off)
assert_contains "one person" "all pictures are of one person, 'ada': it takes at least two" "$said"
said=$(answer 1 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/empty")
assert_contains "an empty folder" "'$SCRATCH/empty' has no pictures: it needs one folder per person" "$said"
said=$(answer 1 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/broken")
assert_contains "nothing that can be used" "none of 1 pictures can be used; the first: '$SCRATCH/broken/ada/1.png'" "$said"
code=0
"$TRAINER" "${FIT[@]}" --data "$SCRATCH/nowhere" >"$SCRATCH/answer" 2>&1 || code=$?
[ $code -ne 0 ] || fail "missing data were not refused"
assert_contains "missing data" "cannot open '$SCRATCH/nowhere'" "$(cat "$SCRATCH/answer")"

# What is in there can be asked before training, and turned into what training wants.
assert_eq "--data and the argument" "$("$TRAINER" data inspect "$SCRATCH/people")" "$("$TRAINER" data inspect --data "$SCRATCH/people")"
assert_eq "the environment" "$("$TRAINER" data inspect "$SCRATCH/people")" "$(TRAINER_DATA=$SCRATCH/people "$TRAINER" data inspect)"
assert_contains "no data set" "no data set given: use --data DIR" "$(answer 2 "$TRAINER" data inspect)"
said=$(answer 0 "$TRAINER" data inspect "$SCRATCH/people")
assert_contains "people and pictures" "5 people, 16 pictures, from 1 to 5 a person" "$said"
assert_contains "formats" "2 unknown, 1 PGM or PPM, 13 PNG" "$said"
assert_contains "sizes" "12 of 64×64" "$said"
assert_contains "what cannot be used" "cannot be used: 4" "$said"
assert_contains "by name" "zoe/000.jpg'" "$said"
# Each by name, however many; those without a face among them where training would leave them out.
mkdir -p "$SCRATCH/many/ada"
for i in $(seq 10 35); do : >"$SCRATCH/many/ada/$i.png"; done
printf 'P5\n40 40\n255\n' >"$SCRATCH/many/ada/dark.pgm"
head -c 1600 /dev/zero >>"$SCRATCH/many/ada/dark.pgm"
assert_eq "pictures that cannot be used, by name" 26 "$("$TRAINER" data inspect "$SCRATCH/many" --crop auto | grep -c "^  '")"
assert_contains "sizes for programs" '"sizes":[{"width":40,"height":40,"pictures":1}]' "$("$TRAINER" data inspect "$SCRATCH/many" --log json)"
assert_contains "a picture without a face" "dark.pgm': no face was found" "$("$TRAINER" data inspect "$SCRATCH/many" --crop cascade)"
assert_contains "the same for programs" '"decoded":12' "$(answer 0 "$TRAINER" data inspect "$SCRATCH/people" --log json)"
said=$(answer 0 "$TRAINER" data convert "$SCRATCH/people" "$SCRATCH/cut" --crop off --size 32 --format pgm)
assert_contains "what was converted" "12 pictures of 4 people, 32×32" "$said"
assert_eq "a converted picture" "P5 32 32 255" "$(head -c 12 "$SCRATCH/cut/ada/00000.pgm" | tr '\n' ' ' | sed 's/ $//')"
assert_eq "the pictures" "$before" "$(files)"

# IDX files and folders, there and back.
mkdir -p "$SCRATCH/classes/train" "$SCRATCH/classes/test"
cp -r "$SCRATCH/cut/ada" "$SCRATCH/cut/ben" "$SCRATCH/classes/train"
cp -r "$SCRATCH/cut/ben" "$SCRATCH/classes/test"
answer 0 "$TRAINER" data convert "$SCRATCH/classes" "$SCRATCH/idx" --idx --size 32 >/dev/null
said=$(answer 0 "$TRAINER" data inspect "$SCRATCH/idx")
assert_contains "IDX files" "train: 6 pictures of 32×32, 2 classes" "$said"
labels() { tail -c +9 "$1" | od -An -v -t u1 | xargs; }
assert_eq "labels to train on" "0 0 0 1 1 1" "$(labels "$SCRATCH/idx/train-labels-idx1-ubyte")"
assert_eq "labels to judge by" "1 1 1" "$(labels "$SCRATCH/idx/t10k-labels-idx1-ubyte")"
answer 0 "$TRAINER" data convert "$SCRATCH/idx" "$SCRATCH/again" --format pgm >/dev/null
cmp "$SCRATCH/again/train/1/00003.pgm" "$SCRATCH/cut/ben/00000.pgm" || fail "a picture changed on its way through IDX files"
said=$(answer 2 "$TRAINER" data convert "$SCRATCH/idx" "$SCRATCH/idx")
assert_contains "the same folder" "would be written over itself" "$said"
ln -s people "$SCRATCH/link"
for to in people/ ./people link people/ada/.. link/new/deep people/cut people/new/../cut; do
    (cd "$SCRATCH" && "$TRAINER" data convert people "$to" --crop off) >"$SCRATCH/answer" 2>&1 && fail "'$to' was written to"
    grep -Eq "would be written over itself|lies in 'people'|in a folder that does not exist" "$SCRATCH/answer" || fail "'$to': $(cat "$SCRATCH/answer")"
done
mkdir "$SCRATCH/both"
cp -r "$SCRATCH/idx" "$SCRATCH/both/train"
said=$(answer 2 "$TRAINER" data convert "$SCRATCH/both/train" "$SCRATCH/both")
assert_contains "a part that is the source" "'$SCRATCH/both/train' would be written over itself" "$said"
assert_eq "the pictures and folders" "$before$folders" "$(files)$(cd "$SCRATCH/people" && find . -type d)"

# A class of which nothing can be used keeps its number, and what is not trained on cannot be judged.
cp -r "$SCRATCH/classes" "$SCRATCH/odd"
for file in "$SCRATCH/odd/train/ada"/*; do printf 'rubbish' >"$file"; done
answer 0 "$TRAINER" data convert "$SCRATCH/odd" "$SCRATCH/odd-idx" --idx --size 32 >/dev/null
assert_eq "labels without ada" "1 1 1" "$(labels "$SCRATCH/odd-idx/train-labels-idx1-ubyte")"
assert_eq "labels to judge by without ada" "1 1 1" "$(labels "$SCRATCH/odd-idx/t10k-labels-idx1-ubyte")"
cp -r "$SCRATCH/cut/ada" "$SCRATCH/odd/test/zoe"
said=$(answer 1 "$TRAINER" data convert "$SCRATCH/odd" "$SCRATCH/odd-none" --idx --size 32)
assert_contains "an untrained class" "'$SCRATCH/odd/test' has a class 'zoe' that '$SCRATCH/odd/train' lacks" "$said"
[ ! -e "$SCRATCH/odd-none" ] || fail "half a data set was written"

# Pictures are written where nothing else is: no new ones among old ones. Drawn faces may be written once more, as by a pod that is
# started again.
mkdir "$SCRATCH/new" "$SCRATCH/new/lost+found"
answer 0 "$TRAINER" data convert "$SCRATCH/people" "$SCRATCH/new" --crop off --size 32 >/dev/null
assert_contains "a second conversion" "'$SCRATCH/new' is not empty: '" \
    "$(answer 2 "$TRAINER" data convert "$SCRATCH/people" "$SCRATCH/new" --crop off --size 32)"
assert_contains "IDX files among pictures" "is not empty" \
    "$(answer 2 "$TRAINER" data convert "$SCRATCH/classes" "$SCRATCH/new" --idx --size 32)"
faces=(data faces --gallery "$SCRATCH/drawn" --samples "$SCRATCH/drawn-more" --persons 3 --size 16)
answer 0 "$TRAINER" "${faces[@]}" --pictures 3 >/dev/null
answer 0 "$TRAINER" "${faces[@]}" --pictures 3 >/dev/null
assert_contains "fewer pictures" "'$SCRATCH/drawn/ada' is not empty: '002.png' in it" "$(answer 2 "$TRAINER" "${faces[@]}" --pictures 2)"
assert_contains "fewer people" "'$SCRATCH/drawn' is not empty: '" "$(answer 2 "$TRAINER" "${faces[@]}" --pictures 3 --persons 2)"
assert_contains "other samples" "'$SCRATCH/drawn-more/ada' is not empty" \
    "$(answer 2 "$TRAINER" "${faces[@]}" --gallery "$SCRATCH/drawn-new" --pictures 4)"
[ ! -e "$SCRATCH/drawn-new" ] || fail "pictures were written before all was looked at"

# A bucket is no folder, wherever it is named.
# The data of training, from the variables of training.
for variable in TRAINER_DATA TF_DATA_DIR; do
    for command in "evaluate --model" "predict --model"; do
        # shellcheck disable=SC2086 # words
        assert_contains "$variable of $command" "$variable: 's3://b/d' is not on a file system" \
            "$(answer 2 env "$variable=s3://b/d" "$TRAINER" $command m)"
    done
done
for command in "export --model s3://b/m --output o" "export --model m --output s3://b/o" "data inspect s3://b/d" "data convert s3://b/d to" \
    "data convert from s3://b/d" "predict --model m --gallery g --probes s3://b/d" "predict --model m --gallery g --probes p --output s3://b/d" \
    "predict --model m --gallery g s3://b/1.png" "fit face --start-from s3://b/m"; do
    # shellcheck disable=SC2086 # words
    assert_contains "$command" "is not on a file system: mount a volume" "$(cd "$SCRATCH" && answer 2 "$TRAINER" $command)"
done

# Faces: drawn ones are no photographs, so most are not found, and all are cut alike. Without opencv-data nobody looks.
said=$(answer 0 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/people" --model-dir "$SCRATCH/model")
if [ -e /usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml ]; then
    assert_contains "faces that were not found" "of 12 pictures: all are cut to their centre" "$said"
else
    assert_contains "no cascade" "install Debian's package opencv-data" "$said"
fi
answer 0 "$TRAINER" predict --model "$SCRATCH/model/face.model" --gallery "$SCRATCH/cut" --probes "$SCRATCH/cut" >/dev/null

# An export replaces an older one, and nothing else: no FIFO or device, no link, not the model it is made of.
mkfifo "$SCRATCH/fifo"
ln -s "$SCRATCH/elsewhere" "$SCRATCH/link"
for output in fifo link; do
    assert_contains "an export to a $output" "is not a regular file and would be replaced by one" \
        "$(answer 1 "$TRAINER" export --model "$SCRATCH/model/face.model" --output "$SCRATCH/$output")"
done
{ [ -p "$SCRATCH/fifo" ] && [ -L "$SCRATCH/link" ]; } || fail "an export replaced a FIFO or a link"
assert_contains "an export onto its model" "is the model itself" \
    "$(answer 1 "$TRAINER" export --model "$SCRATCH/model/face.model" --output "$SCRATCH/model/face.model")"
answer 0 "$TRAINER" export --model "$SCRATCH/model/face.model" --output "$SCRATCH/face.onnx" >/dev/null
answer 0 "$TRAINER" export --model "$SCRATCH/model/face.model" --output "$SCRATCH/face.onnx" >/dev/null
