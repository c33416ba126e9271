_prompt_studio() {
    local words=("${COMP_WORDS[@]:1:COMP_CWORD}") line
    COMPREPLY=()
    while IFS=$'\t' read -r line _; do
        if [ "$line" = ":files" ]; then
            compopt -o filenames 2>/dev/null
            mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "${words[-1]}")
        else
            COMPREPLY+=("$line")
        fi
    done < <(printf '%s\n' "${words[@]}" | prompt-studio completion --words 2>/dev/null)
}
complete -F _prompt_studio prompt-studio
