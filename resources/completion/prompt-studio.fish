function __prompt_studio_offers
    set -l words (commandline -opc)[2..-1] (commandline -ct)
    for line in (printf '%s\n' $words | prompt-studio completion --words 2>/dev/null)
        if test $line = ":files"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c prompt-studio -f -a '(__prompt_studio_offers)'
