#!/bin/bash
# Unusual training data: a damaged picture among good ones, a header that claims ten billion pixels, only one person, an empty folder, a
# missing folder. The trainer prints a message for each, continues if it can, and never changes the data.
# shellcheck source=tests/lib/lib.sh
. "$(dirname "$0")/../lib/lib.sh"

FIT=(fit face --image-size 32 --batch-persons 2 --batch-pictures 2 --held-out 0 --steps 2 --log plain)

# answer EXIT-CODE COMMAND…: run the command, require this exit code, and print its standard output and error.
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
assert_contains "the advice" "'trainer data inspect $SCRATCH/people' lists all of them" "$said"
assert_contains "the first unusable file" "ada/900.png': this file is not a picture in a supported format" "$said"
assert_contains "a truncated picture" "ada/901.png': this PNG picture cannot be read" "$said"
assert_contains "the huge picture" "this picture is too large: 100000 × 100000 pixels; the limits are 8192 per side" "$said"
assert_contains "training with the other pictures" "step 2/2" "$said"
assert_contains "the number of people" "4 people to train on" "$said"
assert_eq "the picture files after training" "$before" "$(files)"

# Every worker leaves out the same pictures: two workers give the losses of one.
losses() { sed -n 's/^step \([0-9]*\).* loss \([0-9.]*\).*/\1 \2/p' "$1"; }
answer 0 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/people" --crop off --batch-persons 4 --batch-pictures 4 >"$SCRATCH/one"
have_addresses 2
for i in 1 0; do
    TF_CONFIG="{\"cluster\":{\"worker\":[$LIST]},\"task\":{\"type\":\"worker\",\"index\":$i}}" \
        "$TRAINER" "${FIT[@]}" --data "$SCRATCH/people" --crop off --batch-persons 4 --batch-pictures 4 >"$SCRATCH/two-$i" 2>&1 &
done
wait
assert_eq "losses of two workers" "$(losses "$SCRATCH/one")" "$(losses "$SCRATCH/two-0")"
assert_eq "logged steps" 2 "$(losses "$SCRATCH/one" | wc -l)"

mkdir -p "$SCRATCH/alone" "$SCRATCH/empty" "$SCRATCH/broken/ada"
cp -r "$SCRATCH/people/ada" "$SCRATCH/alone/"
printf 'rubbish' >"$SCRATCH/broken/ada/1.png"
said=$(answer 1 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/alone" --crop off)
assert_contains "one person" "all pictures are of one person, 'ada': training needs at least two people" "$said"
said=$(answer 1 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/empty")
assert_contains "an empty folder" "'$SCRATCH/empty' has no pictures: it needs one folder per person" "$said"
said=$(answer 1 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/broken")
assert_contains "a folder without a usable picture" "none of 1 pictures can be used; the first error: '$SCRATCH/broken/ada/1.png'" "$said"
code=0
"$TRAINER" "${FIT[@]}" --data "$SCRATCH/nowhere" >"$SCRATCH/answer" 2>&1 || code=$?
[ $code -ne 0 ] || fail "training succeeded without data"
assert_contains "missing data" "cannot open '$SCRATCH/nowhere'" "$(cat "$SCRATCH/answer")"

# `data inspect` shows the content of a data set before training. `data convert` converts it to the format of the training.
assert_eq "inspect with --data and with an argument" "$("$TRAINER" data inspect "$SCRATCH/people")" \
    "$("$TRAINER" data inspect --data "$SCRATCH/people")"
assert_eq "inspect with the data set in the environment" "$("$TRAINER" data inspect "$SCRATCH/people")" \
    "$(TRAINER_DATA=$SCRATCH/people "$TRAINER" data inspect)"
assert_contains "inspect without a data set" "no data set given: use --data DIR" "$(answer 2 "$TRAINER" data inspect)"
said=$(answer 0 "$TRAINER" data inspect "$SCRATCH/people")
assert_contains "people and pictures" "5 people, 16 pictures, from 1 to 5 per person" "$said"
assert_contains "formats" "2 unknown, 1 PGM or PPM, 13 PNG" "$said"
assert_contains "sizes" "12 of 64×64" "$said"
assert_contains "the number of unusable pictures" "cannot be used: 4" "$said"
assert_contains "the name of an unusable picture" "zoe/000.jpg'" "$said"
# inspect names every unusable picture. With --crop cascade it also names pictures without a face, which training would leave out.
mkdir -p "$SCRATCH/many/ada"
for i in $(seq 10 35); do : >"$SCRATCH/many/ada/$i.png"; done
printf 'P5\n40 40\n255\n' >"$SCRATCH/many/ada/dark.pgm"
head -c 1600 /dev/zero >>"$SCRATCH/many/ada/dark.pgm"
assert_eq "number of unusable pictures with their names" 26 "$("$TRAINER" data inspect "$SCRATCH/many" --crop auto | grep -c "^  '")"
assert_contains "sizes in JSON" '"sizes":[{"width":40,"height":40,"pictures":1}]' "$("$TRAINER" data inspect "$SCRATCH/many" --log json)"
assert_contains "a picture without a face" "dark.pgm': no face was found" "$("$TRAINER" data inspect "$SCRATCH/many" --crop cascade)"
assert_contains "the number of usable pictures in JSON" '"decoded":12' "$(answer 0 "$TRAINER" data inspect "$SCRATCH/people" --log json)"
said=$(answer 0 "$TRAINER" data convert "$SCRATCH/people" "$SCRATCH/cut" --crop off --size 32 --format pgm)
assert_contains "the output of convert" "12 pictures of 4 people, 32×32" "$said"
assert_eq "a converted picture" "P5 32 32 255" "$(head -c 12 "$SCRATCH/cut/ada/00000.pgm" | tr '\n' ' ' | sed 's/ $//')"
assert_eq "the picture files after the conversion" "$before" "$(files)"

# Folders are converted to IDX files and back.
mkdir -p "$SCRATCH/classes/train" "$SCRATCH/classes/test"
cp -r "$SCRATCH/cut/ada" "$SCRATCH/cut/ben" "$SCRATCH/classes/train"
cp -r "$SCRATCH/cut/ben" "$SCRATCH/classes/test"
answer 0 "$TRAINER" data convert "$SCRATCH/classes" "$SCRATCH/idx" --idx --size 32 >/dev/null
said=$(answer 0 "$TRAINER" data inspect "$SCRATCH/idx")
assert_contains "IDX files" "train: 6 pictures of 32×32, 2 classes" "$said"
labels() { tail -c +9 "$1" | od -An -v -t u1 | xargs; }
assert_eq "labels of the training set" "0 0 0 1 1 1" "$(labels "$SCRATCH/idx/train-labels-idx1-ubyte")"
assert_eq "labels of the test set" "1 1 1" "$(labels "$SCRATCH/idx/t10k-labels-idx1-ubyte")"
answer 0 "$TRAINER" data convert "$SCRATCH/idx" "$SCRATCH/again" --format pgm >/dev/null
cmp "$SCRATCH/again/train/1/00003.pgm" "$SCRATCH/cut/ben/00000.pgm" || fail "a picture changed in the conversion to IDX and back"
said=$(answer 2 "$TRAINER" data convert "$SCRATCH/idx" "$SCRATCH/idx")
assert_contains "the same folder" "would be written over itself" "$said"
ln -s people "$SCRATCH/link"
for to in people/ ./people link people/ada/.. link/new/deep people/cut people/new/../cut; do
    (cd "$SCRATCH" && "$TRAINER" data convert people "$to" --crop off) >"$SCRATCH/answer" 2>&1 && fail "convert wrote to '$to'"
    grep -Eq "would be written over itself|lies in 'people'|in a folder that does not exist" "$SCRATCH/answer" || fail "'$to': $(cat "$SCRATCH/answer")"
done
mkdir "$SCRATCH/both"
cp -r "$SCRATCH/idx" "$SCRATCH/both/train"
said=$(answer 2 "$TRAINER" data convert "$SCRATCH/both/train" "$SCRATCH/both")
assert_contains "a target whose part is the source" "'$SCRATCH/both/train' would be written over itself" "$said"
assert_eq "the files and folders of the source" "$before$folders" "$(files)$(cd "$SCRATCH/people" && find . -type d)"

# A class without a usable picture keeps its number. A class that is only in the test set is an error.
cp -r "$SCRATCH/classes" "$SCRATCH/odd"
for file in "$SCRATCH/odd/train/ada"/*; do printf 'rubbish' >"$file"; done
answer 0 "$TRAINER" data convert "$SCRATCH/odd" "$SCRATCH/odd-idx" --idx --size 32 >/dev/null
assert_eq "labels of the training set without ada" "1 1 1" "$(labels "$SCRATCH/odd-idx/train-labels-idx1-ubyte")"
assert_eq "labels of the test set without ada" "1 1 1" "$(labels "$SCRATCH/odd-idx/t10k-labels-idx1-ubyte")"
cp -r "$SCRATCH/cut/ada" "$SCRATCH/odd/test/zoe"
said=$(answer 1 "$TRAINER" data convert "$SCRATCH/odd" "$SCRATCH/odd-none" --idx --size 32)
assert_contains "a class that is only in the test set" "'$SCRATCH/odd/test' has the class 'zoe', but '$SCRATCH/odd/train' does not" "$said"
[ ! -e "$SCRATCH/odd-none" ] || fail "an incomplete data set was written"

# Pictures are only written into an empty folder, so that new ones are not mixed with old ones. `data faces` may write the same pictures
# again, as a restarted pod does.
mkdir "$SCRATCH/new" "$SCRATCH/new/lost+found"
answer 0 "$TRAINER" data convert "$SCRATCH/people" "$SCRATCH/new" --crop off --size 32 >/dev/null
assert_contains "a second conversion" "'$SCRATCH/new' is not empty: it contains '" \
    "$(answer 2 "$TRAINER" data convert "$SCRATCH/people" "$SCRATCH/new" --crop off --size 32)"
assert_contains "IDX files among pictures" "is not empty" \
    "$(answer 2 "$TRAINER" data convert "$SCRATCH/classes" "$SCRATCH/new" --idx --size 32)"
faces=(data faces --gallery "$SCRATCH/drawn" --samples "$SCRATCH/drawn-more" --persons 3 --size 16)
answer 0 "$TRAINER" "${faces[@]}" --pictures 3 >/dev/null
answer 0 "$TRAINER" "${faces[@]}" --pictures 3 >/dev/null
assert_contains "fewer pictures" "'$SCRATCH/drawn/ada' is not empty: it contains '002.png'" "$(answer 2 "$TRAINER" "${faces[@]}" --pictures 2)"
assert_contains "fewer people" "'$SCRATCH/drawn' is not empty: it contains '" "$(answer 2 "$TRAINER" "${faces[@]}" --pictures 3 --persons 2)"
assert_contains "other samples" "'$SCRATCH/drawn-more/ada' is not empty" \
    "$(answer 2 "$TRAINER" "${faces[@]}" --gallery "$SCRATCH/drawn-new" --pictures 4)"
[ ! -e "$SCRATCH/drawn-new" ] || fail "data faces wrote pictures before it checked all folders"

# The URL of a bucket is rejected wherever a folder or file is expected: in the environment variables for training data, and in options and
# arguments.
for variable in TRAINER_DATA TF_DATA_DIR; do
    for command in "evaluate --model" "predict --model"; do
        # shellcheck disable=SC2086 # words
        assert_contains "$variable of $command" "$variable: 's3://b/d' is a URL, not a path" \
            "$(answer 2 env "$variable=s3://b/d" "$TRAINER" $command m)"
    done
done
for command in "export --model s3://b/m --output o" "export --model m --output s3://b/o" "data inspect s3://b/d" "data convert s3://b/d to" \
    "data convert from s3://b/d" "predict --model m --gallery g --probes s3://b/d" "predict --model m --gallery g --probes p --output s3://b/d" \
    "predict --model m --gallery g s3://b/1.png" "fit face --start-from s3://b/m"; do
    # shellcheck disable=SC2086 # words
    assert_contains "$command" "is a URL, not a path: mount a volume" "$(cd "$SCRATCH" && answer 2 "$TRAINER" $command)"
done

# Face detection: drawn faces are not photographs, so most are not found, and all pictures are cropped to their centre. Without opencv-data
# there is no face detection.
said=$(answer 0 "$TRAINER" "${FIT[@]}" --data "$SCRATCH/people" --model-dir "$SCRATCH/model")
if [ -e /usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml ]; then
    assert_contains "pictures without a detected face" "of 12 pictures: all are cropped to the centre" "$said"
else
    assert_contains "training without opencv-data" "install Debian's package opencv-data" "$said"
fi
answer 0 "$TRAINER" predict --model "$SCRATCH/model/face.model" --gallery "$SCRATCH/cut" --probes "$SCRATCH/cut" >/dev/null

# An export replaces an older export, but no FIFO, device or symbolic link, and not the model itself.
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
