#!/usr/bin/env zsh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
# offers.zsh COMPLETIONS EMPTY_DIR LINE - what an interactive zsh offers behind LINE, one a line
zmodload zsh/zpty || exit 1
{
	print -r -- "fpath=(${(q)1} \$fpath)"
	print -r -- '
		PROMPT= RPROMPT= PROMPT_EOL_MARK=
		unsetopt auto_list # there is no user to ask whether to show them all
		autoload -U compinit && compinit -u -D
		bindkey "^I" complete-word
		compadd() {
			local -a hits
			builtin compadd -O hits "$@"
			print -rl -- "OFFER "$^hits
			builtin compadd "$@"
		}
		comppostfuncs=(exit)
		zle-line-init() { print READY }
		zle -N zle-line-init'
} >$2/.zshrc
export ZDOTDIR=$2 TERM=dumb
zpty shell zsh -d -i
while zpty -r shell line && [[ $line != *READY* ]]; do :; done
zpty -w -n shell "$3"$'\t'
while zpty -r shell line; do
	[[ $line == *"OFFER "* ]] && print -r -- ${${line##*OFFER }%%$'\r'*}
done
exit 0
