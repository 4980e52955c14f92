# For bash, `core:1` is three words. They are joined before the program is asked, and what is in front of the
# last colon is not offered again.
_topobroker() {
    local place joined=() cword=0
    for place in "${!COMP_WORDS[@]}"; do
        if [[ $place -gt 0 && (${COMP_WORDS[place]} == : || ${COMP_WORDS[place - 1]} == :) ]]; then
            joined[${#joined[@]} - 1]+=${COMP_WORDS[place]}
        else
            joined+=("${COMP_WORDS[place]}")
        fi
        [[ $place -eq $COMP_CWORD ]] && cword=$((${#joined[@]} - 1))
    done
    local COMP_WORDS=("${joined[@]}") COMP_CWORD=$cword
    local word=${joined[cword]}
    _clap_complete_topobroker "$1" "$word" "$3"
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
        local before=${word%"${word##*:}"}
        COMPREPLY=("${COMPREPLY[@]#"$before"}")
    fi
}
complete -o nospace -o bashdefault -F _topobroker topobroker
