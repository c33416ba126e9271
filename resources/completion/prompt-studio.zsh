#compdef prompt-studio
_prompt_studio() {
    local line files=0
    local -a found
    while IFS=$'\t' read -r word told; do
        if [[ $word = ":files" ]]; then
            files=1
        else
            found+=("${word//:/\\:}${told:+:$told}")
        fi
    done < <(printf '%s\n' "${(@)words[2,CURRENT]}" | prompt-studio completion --words 2>/dev/null)
    (( $#found )) && _describe 'prompt-studio' found
    (( files )) && _files
    return 0
}
if [ "$funcstack[1]" = "_prompt_studio" ]; then
    _prompt_studio "$@"
else
    compdef _prompt_studio prompt-studio
fi
