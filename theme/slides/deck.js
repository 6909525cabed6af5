(()=>{/*!
 * reveal.js 5.2.0
 * https://revealjs.com
 * MIT licensed
 *
 * Copyright (C) 2011-2024 Hakim El Hattab, https://hakim.se
 */var bt=(l,t)=>{for(let e in t)l[e]=t[e];return l},E=(l,t)=>Array.from(l.querySelectorAll(t)),ne=(l,t,e)=>{e?l.classList.add(t):l.classList.remove(t)},yt=l=>{if(typeof l=="string"){if(l==="null")return null;if(l==="true")return!0;if(l==="false")return!1;if(l.match(/^-?[\d\.]+$/))return parseFloat(l)}return l},ct=(l,t)=>{l.style.transform=t},_t=(l,t)=>{let e=l.matches||l.matchesSelector||l.msMatchesSelector;return!(!e||!e.call(l,t))},W=(l,t)=>{if(typeof l.closest=="function")return l.closest(t);for(;l;){if(_t(l,t))return l;l=l.parentNode}return null},vn=l=>{let t=(l=l||document.documentElement).requestFullscreen||l.webkitRequestFullscreen||l.webkitRequestFullScreen||l.mozRequestFullScreen||l.msRequestFullscreen;t&&t.apply(l)},ae=l=>{let t=document.createElement("style");return t.type="text/css",l&&l.length>0&&(t.styleSheet?t.styleSheet.cssText=l:t.appendChild(document.createTextNode(l))),document.head.appendChild(t),t},dn=()=>{let l={};location.search.replace(/[A-Z0-9]+?=([\w\.%-]*)/gi,(t=>{l[t.split("=").shift()]=t.split("=").pop()}));for(let t in l){let e=l[t];l[t]=yt(unescape(e))}return l.dependencies!==void 0&&delete l.dependencies,l},Hn={mp4:"video/mp4",m4a:"video/mp4",ogv:"video/ogg",mpeg:"video/mpeg",webm:"video/webm"},fn=navigator.userAgent,wt=/(iphone|ipod|ipad|android)/gi.test(fn)||navigator.platform==="MacIntel"&&navigator.maxTouchPoints>1,yn=/android/gi.test(fn),_n=(function(l){if(l){var t=function(v){return[].slice.call(v)},e=3,n=[],i=null,s="requestAnimationFrame"in l?function(){l.cancelAnimationFrame(i),i=l.requestAnimationFrame((function(){return o(n.filter((function(v){return v.dirty&&v.active})))}))}:function(){},a=function(v){return function(){n.forEach((function(C){return C.dirty=v})),s()}},o=function(v){v.filter((function(P){return!P.styleComputed})).forEach((function(P){P.styleComputed=d(P)})),v.filter(g).forEach(y);var C=v.filter(u);C.forEach(p),C.forEach((function(P){y(P),r(P)})),C.forEach(L)},r=function(v){return v.dirty=0},p=function(v){v.availableWidth=v.element.parentNode.clientWidth,v.currentWidth=v.element.scrollWidth,v.previousFontSize=v.currentFontSize,v.currentFontSize=Math.min(Math.max(v.minSize,v.availableWidth/v.currentWidth*v.previousFontSize),v.maxSize),v.whiteSpace=v.multiLine&&v.currentFontSize===v.minSize?"normal":"nowrap"},u=function(v){return v.dirty!==2||v.dirty===2&&v.element.parentNode.clientWidth!==v.availableWidth},d=function(v){var C=l.getComputedStyle(v.element,null);return v.currentFontSize=parseFloat(C.getPropertyValue("font-size")),v.display=C.getPropertyValue("display"),v.whiteSpace=C.getPropertyValue("white-space"),!0},g=function(v){var C=!1;return!v.preStyleTestCompleted&&(/inline-/.test(v.display)||(C=!0,v.display="inline-block"),v.whiteSpace!=="nowrap"&&(C=!0,v.whiteSpace="nowrap"),v.preStyleTestCompleted=!0,C)},y=function(v){v.element.style.whiteSpace=v.whiteSpace,v.element.style.display=v.display,v.element.style.fontSize=v.currentFontSize+"px"},L=function(v){v.element.dispatchEvent(new CustomEvent("fit",{detail:{oldValue:v.previousFontSize,newValue:v.currentFontSize,scaleFactor:v.currentFontSize/v.previousFontSize}}))},h=function(v,C){return function(){v.dirty=C,v.active&&s()}},$=function(v){return function(){n=n.filter((function(C){return C.element!==v.element})),v.observeMutations&&v.observer.disconnect(),v.element.style.whiteSpace=v.originalStyle.whiteSpace,v.element.style.display=v.originalStyle.display,v.element.style.fontSize=v.originalStyle.fontSize}},S=function(v){return function(){v.active||(v.active=!0,s())}},q=function(v){return function(){return v.active=!1}},Z=function(v){v.observeMutations&&(v.observer=new MutationObserver(h(v,1)),v.observer.observe(v.element,v.observeMutations))},M={minSize:16,maxSize:512,multiLine:!0,observeMutations:"MutationObserver"in l&&{subtree:!0,childList:!0,characterData:!0}},R=null,T=function(){l.clearTimeout(R),R=l.setTimeout(a(2),N.observeWindowDelay)},O=["resize","orientationchange"];return Object.defineProperty(N,"observeWindow",{set:function(v){var C="".concat(v?"add":"remove","EventListener");O.forEach((function(P){l[C](P,T)}))}}),N.observeWindow=!0,N.observeWindowDelay=100,N.fitAll=a(e),N}function U(v,C){var P=Object.assign({},M,C),B=v.map((function(K){var Y=Object.assign({},P,{element:K,active:!0});return(function(V){V.originalStyle={whiteSpace:V.element.style.whiteSpace,display:V.element.style.display,fontSize:V.element.style.fontSize},Z(V),V.newbie=!0,V.dirty=!0,n.push(V)})(Y),{element:K,fit:h(Y,e),unfreeze:S(Y),freeze:q(Y),unsubscribe:$(Y)}}));return s(),B}function N(v){var C=arguments.length>1&&arguments[1]!==void 0?arguments[1]:{};return typeof v=="string"?U(t(document.querySelectorAll(v)),C):U([v],C)[0]}})(typeof window>"u"?null:window),re=class{constructor(t){this.Reveal=t,this.startEmbeddedIframe=this.startEmbeddedIframe.bind(this)}shouldPreload(t){if(this.Reveal.isScrollView())return!0;let e=this.Reveal.getConfig().preloadIframes;return typeof e!="boolean"&&(e=t.hasAttribute("data-preload")),e}load(t,e={}){t.style.display=this.Reveal.getConfig().display,E(t,"img[data-src], video[data-src], audio[data-src], iframe[data-src]").forEach((i=>{(i.tagName!=="IFRAME"||this.shouldPreload(i))&&(i.setAttribute("src",i.getAttribute("data-src")),i.setAttribute("data-lazy-loaded",""),i.removeAttribute("data-src"))})),E(t,"video, audio").forEach((i=>{let s=0;E(i,"source[data-src]").forEach((a=>{a.setAttribute("src",a.getAttribute("data-src")),a.removeAttribute("data-src"),a.setAttribute("data-lazy-loaded",""),s+=1})),wt&&i.tagName==="VIDEO"&&i.setAttribute("playsinline",""),s>0&&i.load()}));let n=t.slideBackgroundElement;if(n){n.style.display="block";let i=t.slideBackgroundContentElement,s=t.getAttribute("data-background-iframe");if(n.hasAttribute("data-loaded")===!1){n.setAttribute("data-loaded","true");let o=t.getAttribute("data-background-image"),r=t.getAttribute("data-background-video"),p=t.hasAttribute("data-background-video-loop"),u=t.hasAttribute("data-background-video-muted");if(o)/^data:/.test(o.trim())?i.style.backgroundImage=`url(${o.trim()})`:i.style.backgroundImage=o.split(",").map((d=>`url(${((g="")=>encodeURI(g).replace(/%5B/g,"[").replace(/%5D/g,"]").replace(/[!'()*]/g,(y=>`%${y.charCodeAt(0).toString(16).toUpperCase()}`)))(decodeURI(d.trim()))})`)).join(",");else if(r){let d=document.createElement("video");p&&d.setAttribute("loop",""),(u||this.Reveal.isSpeakerNotes())&&(d.muted=!0),wt&&(d.muted=!0,d.setAttribute("playsinline","")),r.split(",").forEach((g=>{let y=document.createElement("source");y.setAttribute("src",g);let L=((h="")=>Hn[h.split(".").pop()])(g);L&&y.setAttribute("type",L),d.appendChild(y)})),i.appendChild(d)}else if(s&&e.excludeIframes!==!0){let d=document.createElement("iframe");d.setAttribute("allowfullscreen",""),d.setAttribute("mozallowfullscreen",""),d.setAttribute("webkitallowfullscreen",""),d.setAttribute("allow","autoplay"),d.setAttribute("data-src",s),d.style.width="100%",d.style.height="100%",d.style.maxHeight="100%",d.style.maxWidth="100%",i.appendChild(d)}}let a=i.querySelector("iframe[data-src]");a&&this.shouldPreload(n)&&!/autoplay=(1|true|yes)/gi.test(s)&&a.getAttribute("src")!==s&&a.setAttribute("src",s)}this.layout(t)}layout(t){Array.from(t.querySelectorAll(".r-fit-text")).forEach((e=>{_n(e,{minSize:24,maxSize:.8*this.Reveal.getConfig().height,observeMutations:!1,observeWindow:!1})}))}unload(t){t.style.display="none";let e=this.Reveal.getSlideBackground(t);e&&(e.style.display="none",E(e,"iframe[src]").forEach((n=>{n.removeAttribute("src")}))),E(t,"video[data-lazy-loaded][src], audio[data-lazy-loaded][src], iframe[data-lazy-loaded][src]").forEach((n=>{n.setAttribute("data-src",n.getAttribute("src")),n.removeAttribute("src")})),E(t,"video[data-lazy-loaded] source[src], audio source[src]").forEach((n=>{n.setAttribute("data-src",n.getAttribute("src")),n.removeAttribute("src")}))}formatEmbeddedContent(){let t=(e,n,i)=>{E(this.Reveal.getSlidesElement(),"iframe["+e+'*="'+n+'"]').forEach((s=>{let a=s.getAttribute(e);a&&a.indexOf(i)===-1&&s.setAttribute(e,a+(/\?/.test(a)?"&":"?")+i)}))};t("src","youtube.com/embed/","enablejsapi=1"),t("data-src","youtube.com/embed/","enablejsapi=1"),t("src","player.vimeo.com/","api=1"),t("data-src","player.vimeo.com/","api=1")}startEmbeddedContent(t){if(t){let e=this.Reveal.isSpeakerNotes();E(t,'img[src$=".gif"]').forEach((n=>{n.setAttribute("src",n.getAttribute("src"))})),E(t,"video, audio").forEach((n=>{if(W(n,".fragment")&&!W(n,".fragment.visible"))return;let i=this.Reveal.getConfig().autoPlayMedia;if(typeof i!="boolean"&&(i=n.hasAttribute("data-autoplay")||!!W(n,".slide-background")),i&&typeof n.play=="function"){if(e&&!n.muted)return;if(n.readyState>1)this.startEmbeddedMedia({target:n});else if(wt){let s=n.play();s&&typeof s.catch=="function"&&n.controls===!1&&s.catch((()=>{n.controls=!0,n.addEventListener("play",(()=>{n.controls=!1}))}))}else n.removeEventListener("loadeddata",this.startEmbeddedMedia),n.addEventListener("loadeddata",this.startEmbeddedMedia)}})),e||(E(t,"iframe[src]").forEach((n=>{W(n,".fragment")&&!W(n,".fragment.visible")||this.startEmbeddedIframe({target:n})})),E(t,"iframe[data-src]").forEach((n=>{W(n,".fragment")&&!W(n,".fragment.visible")||n.getAttribute("src")!==n.getAttribute("data-src")&&(n.removeEventListener("load",this.startEmbeddedIframe),n.addEventListener("load",this.startEmbeddedIframe),n.setAttribute("src",n.getAttribute("data-src")))})))}}startEmbeddedMedia(t){let e=!!W(t.target,"html"),n=!!W(t.target,".present");e&&n&&(t.target.paused||t.target.ended)&&(t.target.currentTime=0,t.target.play()),t.target.removeEventListener("loadeddata",this.startEmbeddedMedia)}startEmbeddedIframe(t){let e=t.target;if(e&&e.contentWindow){let n=!!W(t.target,"html"),i=!!W(t.target,".present");if(n&&i){let s=this.Reveal.getConfig().autoPlayMedia;typeof s!="boolean"&&(s=e.hasAttribute("data-autoplay")||!!W(e,".slide-background")),/youtube\.com\/embed\//.test(e.getAttribute("src"))&&s?e.contentWindow.postMessage('{"event":"command","func":"playVideo","args":""}',"*"):/player\.vimeo\.com\//.test(e.getAttribute("src"))&&s?e.contentWindow.postMessage('{"method":"play"}',"*"):e.contentWindow.postMessage("slide:start","*")}}}stopEmbeddedContent(t,e={}){e=bt({unloadIframes:!0},e),t&&t.parentNode&&(E(t,"video, audio").forEach((n=>{n.hasAttribute("data-ignore")||typeof n.pause!="function"||(n.setAttribute("data-paused-by-reveal",""),n.pause())})),E(t,"iframe").forEach((n=>{n.contentWindow&&n.contentWindow.postMessage("slide:stop","*"),n.removeEventListener("load",this.startEmbeddedIframe)})),E(t,'iframe[src*="youtube.com/embed/"]').forEach((n=>{!n.hasAttribute("data-ignore")&&n.contentWindow&&typeof n.contentWindow.postMessage=="function"&&n.contentWindow.postMessage('{"event":"command","func":"pauseVideo","args":""}',"*")})),E(t,'iframe[src*="player.vimeo.com/"]').forEach((n=>{!n.hasAttribute("data-ignore")&&n.contentWindow&&typeof n.contentWindow.postMessage=="function"&&n.contentWindow.postMessage('{"method":"pause"}',"*")})),e.unloadIframes===!0&&E(t,"iframe[data-src]").forEach((n=>{n.setAttribute("src","about:blank"),n.removeAttribute("src")})))}},ut=".slides section",lt=".slides>section",hn=".slides>section.present>section",Dn=/registerPlugin|registerKeyboardShortcut|addKeyBinding|addEventListener|showPreview/,oe=class{constructor(t){this.Reveal=t}render(){this.element=document.createElement("div"),this.element.className="slide-number",this.Reveal.getRevealElement().appendChild(this.element)}configure(t,e){let n="none";t.slideNumber&&!this.Reveal.isPrintView()&&(t.showSlideNumber==="all"||t.showSlideNumber==="speaker"&&this.Reveal.isSpeakerNotes())&&(n="block"),this.element.style.display=n}update(){this.Reveal.getConfig().slideNumber&&this.element&&(this.element.innerHTML=this.getSlideNumber())}getSlideNumber(t=this.Reveal.getCurrentSlide()){let e,n=this.Reveal.getConfig(),i="h.v";if(typeof n.slideNumber=="function")e=n.slideNumber(t);else{typeof n.slideNumber=="string"&&(i=n.slideNumber),/c/.test(i)||this.Reveal.getHorizontalSlides().length!==1||(i="c");let a=t&&t.dataset.visibility==="uncounted"?0:1;switch(e=[],i){case"c":e.push(this.Reveal.getSlidePastCount(t)+a);break;case"c/t":e.push(this.Reveal.getSlidePastCount(t)+a,"/",this.Reveal.getTotalSlides());break;default:let o=this.Reveal.getIndices(t);e.push(o.h+a);let r=i==="h/v"?"/":".";this.Reveal.isVerticalSlide(t)&&e.push(r,o.v+1)}}let s="#"+this.Reveal.location.getHash(t);return this.formatNumber(e[0],e[1],e[2],s)}formatNumber(t,e,n,i="#"+this.Reveal.location.getHash()){return typeof n!="number"||isNaN(n)?`<a href="${i}">
					<span class="slide-number-a">${t}</span>
					</a>`:`<a href="${i}">
					<span class="slide-number-a">${t}</span>
					<span class="slide-number-delimiter">${e}</span>
					<span class="slide-number-b">${n}</span>
					</a>`}destroy(){this.element.remove()}},le=class{constructor(t){this.Reveal=t,this.onInput=this.onInput.bind(this),this.onBlur=this.onBlur.bind(this),this.onKeyDown=this.onKeyDown.bind(this)}render(){this.element=document.createElement("div"),this.element.className="jump-to-slide",this.jumpInput=document.createElement("input"),this.jumpInput.type="text",this.jumpInput.className="jump-to-slide-input",this.jumpInput.placeholder="Jump to slide",this.jumpInput.addEventListener("input",this.onInput),this.jumpInput.addEventListener("keydown",this.onKeyDown),this.jumpInput.addEventListener("blur",this.onBlur),this.element.appendChild(this.jumpInput)}show(){this.indicesOnShow=this.Reveal.getIndices(),this.Reveal.getRevealElement().appendChild(this.element),this.jumpInput.focus()}hide(){this.isVisible()&&(this.element.remove(),this.jumpInput.value="",clearTimeout(this.jumpTimeout),delete this.jumpTimeout)}isVisible(){return!!this.element.parentNode}jump(){clearTimeout(this.jumpTimeout),delete this.jumpTimeout;let t,e=this.jumpInput.value.trim("");if(/^\d+$/.test(e)){let n=this.Reveal.getConfig().slideNumber;if(n==="c"||n==="c/t"){let i=this.Reveal.getSlides()[parseInt(e,10)-1];i&&(t=this.Reveal.getIndices(i))}}return t||(/^\d+\.\d+$/.test(e)&&(e=e.replace(".","/")),t=this.Reveal.location.getIndicesFromHash(e,{oneBasedIndex:!0})),!t&&/\S+/i.test(e)&&e.length>1&&(t=this.search(e)),t&&e!==""?(this.Reveal.slide(t.h,t.v,t.f),!0):(this.Reveal.slide(this.indicesOnShow.h,this.indicesOnShow.v,this.indicesOnShow.f),!1)}jumpAfter(t){clearTimeout(this.jumpTimeout),this.jumpTimeout=setTimeout((()=>this.jump()),t)}search(t){let e=new RegExp("\\b"+t.trim()+"\\b","i"),n=this.Reveal.getSlides().find((i=>e.test(i.innerText)));return n?this.Reveal.getIndices(n):null}cancel(){this.Reveal.slide(this.indicesOnShow.h,this.indicesOnShow.v,this.indicesOnShow.f),this.hide()}confirm(){this.jump(),this.hide()}destroy(){this.jumpInput.removeEventListener("input",this.onInput),this.jumpInput.removeEventListener("keydown",this.onKeyDown),this.jumpInput.removeEventListener("blur",this.onBlur),this.element.remove()}onKeyDown(t){t.keyCode===13?this.confirm():t.keyCode===27&&(this.cancel(),t.stopImmediatePropagation())}onInput(t){this.jumpAfter(200)}onBlur(){setTimeout((()=>this.hide()),1)}},ie=l=>{let t=l.match(/^#([0-9a-f]{3})$/i);if(t&&t[1])return t=t[1],{r:17*parseInt(t.charAt(0),16),g:17*parseInt(t.charAt(1),16),b:17*parseInt(t.charAt(2),16)};let e=l.match(/^#([0-9a-f]{6})$/i);if(e&&e[1])return e=e[1],{r:parseInt(e.slice(0,2),16),g:parseInt(e.slice(2,4),16),b:parseInt(e.slice(4,6),16)};let n=l.match(/^rgb\s*\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*\)$/i);if(n)return{r:parseInt(n[1],10),g:parseInt(n[2],10),b:parseInt(n[3],10)};let i=l.match(/^rgba\s*\(\s*(\d+)\s*,\s*(\d+)\s*,\s*(\d+)\s*,\s*([\d]+|[\d]*.[\d]+)\s*\)$/i);return i?{r:parseInt(i[1],10),g:parseInt(i[2],10),b:parseInt(i[3],10),a:parseFloat(i[4])}:null},ce=class{constructor(t){this.Reveal=t}render(){this.element=document.createElement("div"),this.element.className="backgrounds",this.Reveal.getRevealElement().appendChild(this.element)}create(){this.element.innerHTML="",this.element.classList.add("no-transition"),this.Reveal.getHorizontalSlides().forEach((t=>{let e=this.createBackground(t,this.element);E(t,"section").forEach((n=>{this.createBackground(n,e),e.classList.add("stack")}))})),this.Reveal.getConfig().parallaxBackgroundImage?(this.element.style.backgroundImage='url("'+this.Reveal.getConfig().parallaxBackgroundImage+'")',this.element.style.backgroundSize=this.Reveal.getConfig().parallaxBackgroundSize,this.element.style.backgroundRepeat=this.Reveal.getConfig().parallaxBackgroundRepeat,this.element.style.backgroundPosition=this.Reveal.getConfig().parallaxBackgroundPosition,setTimeout((()=>{this.Reveal.getRevealElement().classList.add("has-parallax-background")}),1)):(this.element.style.backgroundImage="",this.Reveal.getRevealElement().classList.remove("has-parallax-background"))}createBackground(t,e){let n=document.createElement("div");n.className="slide-background "+t.className.replace(/present|past|future/,"");let i=document.createElement("div");return i.className="slide-background-content",n.appendChild(i),e.appendChild(n),t.slideBackgroundElement=n,t.slideBackgroundContentElement=i,this.sync(t),n}sync(t){let e=t.slideBackgroundElement,n=t.slideBackgroundContentElement,i={background:t.getAttribute("data-background"),backgroundSize:t.getAttribute("data-background-size"),backgroundImage:t.getAttribute("data-background-image"),backgroundVideo:t.getAttribute("data-background-video"),backgroundIframe:t.getAttribute("data-background-iframe"),backgroundColor:t.getAttribute("data-background-color"),backgroundGradient:t.getAttribute("data-background-gradient"),backgroundRepeat:t.getAttribute("data-background-repeat"),backgroundPosition:t.getAttribute("data-background-position"),backgroundTransition:t.getAttribute("data-background-transition"),backgroundOpacity:t.getAttribute("data-background-opacity")},s=t.hasAttribute("data-preload");t.classList.remove("has-dark-background"),t.classList.remove("has-light-background"),e.removeAttribute("data-loaded"),e.removeAttribute("data-background-hash"),e.removeAttribute("data-background-size"),e.removeAttribute("data-background-transition"),e.style.backgroundColor="",n.style.backgroundSize="",n.style.backgroundRepeat="",n.style.backgroundPosition="",n.style.backgroundImage="",n.style.opacity="",n.innerHTML="",i.background&&(/^(http|file|\/\/)/gi.test(i.background)||/\.(svg|png|jpg|jpeg|gif|bmp|webp)([?#\s]|$)/gi.test(i.background)?t.setAttribute("data-background-image",i.background):e.style.background=i.background),(i.background||i.backgroundColor||i.backgroundGradient||i.backgroundImage||i.backgroundVideo||i.backgroundIframe)&&e.setAttribute("data-background-hash",i.background+i.backgroundSize+i.backgroundImage+i.backgroundVideo+i.backgroundIframe+i.backgroundColor+i.backgroundGradient+i.backgroundRepeat+i.backgroundPosition+i.backgroundTransition+i.backgroundOpacity),i.backgroundSize&&e.setAttribute("data-background-size",i.backgroundSize),i.backgroundColor&&(e.style.backgroundColor=i.backgroundColor),i.backgroundGradient&&(e.style.backgroundImage=i.backgroundGradient),i.backgroundTransition&&e.setAttribute("data-background-transition",i.backgroundTransition),s&&e.setAttribute("data-preload",""),i.backgroundSize&&(n.style.backgroundSize=i.backgroundSize),i.backgroundRepeat&&(n.style.backgroundRepeat=i.backgroundRepeat),i.backgroundPosition&&(n.style.backgroundPosition=i.backgroundPosition),i.backgroundOpacity&&(n.style.opacity=i.backgroundOpacity);let a=this.getContrastClass(t);typeof a=="string"&&t.classList.add(a)}getContrastClass(t){let e=t.slideBackgroundElement,n=t.getAttribute("data-background-color");if(!n||!ie(n)){let s=window.getComputedStyle(e);s&&s.backgroundColor&&(n=s.backgroundColor)}if(n){let s=ie(n);if(s&&s.a!==0)return typeof(i=n)=="string"&&(i=ie(i)),(i?(299*i.r+587*i.g+114*i.b)/1e3:null)<128?"has-dark-background":"has-light-background"}var i;return null}bubbleSlideContrastClassToElement(t,e){["has-light-background","has-dark-background"].forEach((n=>{t.classList.contains(n)?e.classList.add(n):e.classList.remove(n)}),this)}update(t=!1){let e=this.Reveal.getConfig(),n=this.Reveal.getCurrentSlide(),i=this.Reveal.getIndices(),s=null,a=e.rtl?"future":"past",o=e.rtl?"past":"future";if(Array.from(this.element.childNodes).forEach(((p,u)=>{p.classList.remove("past","present","future"),u<i.h?p.classList.add(a):u>i.h?p.classList.add(o):(p.classList.add("present"),s=p),(t||u===i.h)&&E(p,".slide-background").forEach(((d,g)=>{d.classList.remove("past","present","future");let y=typeof i.v=="number"?i.v:0;g<y?d.classList.add("past"):g>y?d.classList.add("future"):(d.classList.add("present"),u===i.h&&(s=d))}))})),this.previousBackground&&!this.previousBackground.closest("body")&&(this.previousBackground=null),s&&this.previousBackground){let p=this.previousBackground.getAttribute("data-background-hash"),u=s.getAttribute("data-background-hash");if(u&&u===p&&s!==this.previousBackground){this.element.classList.add("no-transition");let d=s.querySelector("video"),g=this.previousBackground.querySelector("video");if(d&&g){let y=d.parentNode;g.parentNode.appendChild(d),y.appendChild(g)}}}let r=s!==this.previousBackground;if(r&&this.previousBackground&&this.Reveal.slideContent.stopEmbeddedContent(this.previousBackground,{unloadIframes:!this.Reveal.slideContent.shouldPreload(this.previousBackground)}),r&&s){this.Reveal.slideContent.startEmbeddedContent(s);let p=s.querySelector(".slide-background-content");if(p){let u=p.style.backgroundImage||"";/\.gif/i.test(u)&&(p.style.backgroundImage="",window.getComputedStyle(p).opacity,p.style.backgroundImage=u)}this.previousBackground=s}n&&this.bubbleSlideContrastClassToElement(n,this.Reveal.getRevealElement()),setTimeout((()=>{this.element.classList.remove("no-transition")}),10)}updateParallax(){let t=this.Reveal.getIndices();if(this.Reveal.getConfig().parallaxBackgroundImage){let e,n,i=this.Reveal.getHorizontalSlides(),s=this.Reveal.getVerticalSlides(),a=this.element.style.backgroundSize.split(" ");a.length===1?e=n=parseInt(a[0],10):(e=parseInt(a[0],10),n=parseInt(a[1],10));let o,r,p=this.element.offsetWidth,u=i.length;o=typeof this.Reveal.getConfig().parallaxBackgroundHorizontal=="number"?this.Reveal.getConfig().parallaxBackgroundHorizontal:u>1?(e-p)/(u-1):0,r=o*t.h*-1;let d,g,y=this.element.offsetHeight,L=s.length;d=typeof this.Reveal.getConfig().parallaxBackgroundVertical=="number"?this.Reveal.getConfig().parallaxBackgroundVertical:(n-y)/(L-1),g=L>0?d*t.v:0,this.element.style.backgroundPosition=r+"px "+-g+"px"}}destroy(){this.element.remove()}},un=0,de=class{constructor(t){this.Reveal=t}run(t,e){this.reset();let n=this.Reveal.getSlides(),i=n.indexOf(e),s=n.indexOf(t);if(t&&e&&t.hasAttribute("data-auto-animate")&&e.hasAttribute("data-auto-animate")&&t.getAttribute("data-auto-animate-id")===e.getAttribute("data-auto-animate-id")&&!(i>s?e:t).hasAttribute("data-auto-animate-restart")){this.autoAnimateStyleSheet=this.autoAnimateStyleSheet||ae();let a=this.getAutoAnimateOptions(e);t.dataset.autoAnimate="pending",e.dataset.autoAnimate="pending",a.slideDirection=i>s?"forward":"backward";let o=t.style.display==="none";o&&(t.style.display=this.Reveal.getConfig().display);let r=this.getAutoAnimatableElements(t,e).map((p=>this.autoAnimateElements(p.from,p.to,p.options||{},a,un++)));if(o&&(t.style.display="none"),e.dataset.autoAnimateUnmatched!=="false"&&this.Reveal.getConfig().autoAnimateUnmatched===!0){let p=.8*a.duration,u=.2*a.duration;this.getUnmatchedAutoAnimateElements(e).forEach((d=>{let g=this.getAutoAnimateOptions(d,a),y="unmatched";g.duration===a.duration&&g.delay===a.delay||(y="unmatched-"+un++,r.push(`[data-auto-animate="running"] [data-auto-animate-target="${y}"] { transition: opacity ${g.duration}s ease ${g.delay}s; }`)),d.dataset.autoAnimateTarget=y}),this),r.push(`[data-auto-animate="running"] [data-auto-animate-target="unmatched"] { transition: opacity ${p}s ease ${u}s; }`)}this.autoAnimateStyleSheet.innerHTML=r.join(""),requestAnimationFrame((()=>{this.autoAnimateStyleSheet&&(getComputedStyle(this.autoAnimateStyleSheet).fontWeight,e.dataset.autoAnimate="running")})),this.Reveal.dispatchEvent({type:"autoanimate",data:{fromSlide:t,toSlide:e,sheet:this.autoAnimateStyleSheet}})}}reset(){E(this.Reveal.getRevealElement(),'[data-auto-animate]:not([data-auto-animate=""])').forEach((t=>{t.dataset.autoAnimate=""})),E(this.Reveal.getRevealElement(),"[data-auto-animate-target]").forEach((t=>{delete t.dataset.autoAnimateTarget})),this.autoAnimateStyleSheet&&this.autoAnimateStyleSheet.parentNode&&(this.autoAnimateStyleSheet.parentNode.removeChild(this.autoAnimateStyleSheet),this.autoAnimateStyleSheet=null)}autoAnimateElements(t,e,n,i,s){t.dataset.autoAnimateTarget="",e.dataset.autoAnimateTarget=s;let a=this.getAutoAnimateOptions(e,i);n.delay!==void 0&&(a.delay=n.delay),n.duration!==void 0&&(a.duration=n.duration),n.easing!==void 0&&(a.easing=n.easing);let o=this.getAutoAnimatableProperties("from",t,n),r=this.getAutoAnimatableProperties("to",e,n);if(e.classList.contains("fragment")&&delete r.styles.opacity,n.translate!==!1||n.scale!==!1){let d=this.Reveal.getScale(),g={x:(o.x-r.x)/d,y:(o.y-r.y)/d,scaleX:o.width/r.width,scaleY:o.height/r.height};g.x=Math.round(1e3*g.x)/1e3,g.y=Math.round(1e3*g.y)/1e3,g.scaleX=Math.round(1e3*g.scaleX)/1e3,g.scaleX=Math.round(1e3*g.scaleX)/1e3;let y=n.translate!==!1&&(g.x!==0||g.y!==0),L=n.scale!==!1&&(g.scaleX!==0||g.scaleY!==0);if(y||L){let h=[];y&&h.push(`translate(${g.x}px, ${g.y}px)`),L&&h.push(`scale(${g.scaleX}, ${g.scaleY})`),o.styles.transform=h.join(" "),o.styles["transform-origin"]="top left",r.styles.transform="none"}}for(let d in r.styles){let g=r.styles[d],y=o.styles[d];g===y?delete r.styles[d]:(g.explicitValue===!0&&(r.styles[d]=g.value),y.explicitValue===!0&&(o.styles[d]=y.value))}let p="",u=Object.keys(r.styles);return u.length>0&&(o.styles.transition="none",r.styles.transition=`all ${a.duration}s ${a.easing} ${a.delay}s`,r.styles["transition-property"]=u.join(", "),r.styles["will-change"]=u.join(", "),p='[data-auto-animate-target="'+s+'"] {'+Object.keys(o.styles).map((d=>d+": "+o.styles[d]+" !important;")).join("")+'}[data-auto-animate="running"] [data-auto-animate-target="'+s+'"] {'+Object.keys(r.styles).map((d=>d+": "+r.styles[d]+" !important;")).join("")+"}"),p}getAutoAnimateOptions(t,e){let n={easing:this.Reveal.getConfig().autoAnimateEasing,duration:this.Reveal.getConfig().autoAnimateDuration,delay:0};if(n=bt(n,e),t.parentNode){let i=W(t.parentNode,"[data-auto-animate-target]");i&&(n=this.getAutoAnimateOptions(i,n))}return t.dataset.autoAnimateEasing&&(n.easing=t.dataset.autoAnimateEasing),t.dataset.autoAnimateDuration&&(n.duration=parseFloat(t.dataset.autoAnimateDuration)),t.dataset.autoAnimateDelay&&(n.delay=parseFloat(t.dataset.autoAnimateDelay)),n}getAutoAnimatableProperties(t,e,n){let i=this.Reveal.getConfig(),s={styles:[]};if(n.translate!==!1||n.scale!==!1){let o;if(typeof n.measure=="function")o=n.measure(e);else if(i.center)o=e.getBoundingClientRect();else{let r=this.Reveal.getScale();o={x:e.offsetLeft*r,y:e.offsetTop*r,width:e.offsetWidth*r,height:e.offsetHeight*r}}s.x=o.x,s.y=o.y,s.width=o.width,s.height=o.height}let a=getComputedStyle(e);return(n.styles||i.autoAnimateStyles).forEach((o=>{let r;typeof o=="string"&&(o={property:o}),o.from!==void 0&&t==="from"?r={value:o.from,explicitValue:!0}:o.to!==void 0&&t==="to"?r={value:o.to,explicitValue:!0}:(o.property==="line-height"&&(r=parseFloat(a["line-height"])/parseFloat(a["font-size"])),isNaN(r)&&(r=a[o.property])),r!==""&&(s.styles[o.property]=r)})),s}getAutoAnimatableElements(t,e){let n=(typeof this.Reveal.getConfig().autoAnimateMatcher=="function"?this.Reveal.getConfig().autoAnimateMatcher:this.getAutoAnimatePairs).call(this,t,e),i=[];return n.filter(((s,a)=>{if(i.indexOf(s.to)===-1)return i.push(s.to),!0}))}getAutoAnimatePairs(t,e){let n=[],i="h1, h2, h3, h4, h5, h6, p, li";return this.findAutoAnimateMatches(n,t,e,"[data-id]",(s=>s.nodeName+":::"+s.getAttribute("data-id"))),this.findAutoAnimateMatches(n,t,e,i,(s=>s.nodeName+":::"+s.textContent.trim())),this.findAutoAnimateMatches(n,t,e,"img, video, iframe",(s=>s.nodeName+":::"+(s.getAttribute("src")||s.getAttribute("data-src")))),this.findAutoAnimateMatches(n,t,e,"pre",(s=>s.nodeName+":::"+s.textContent.trim())),n.forEach((s=>{_t(s.from,i)?s.options={scale:!1}:_t(s.from,"pre")&&(s.options={scale:!1,styles:["width","height"]},this.findAutoAnimateMatches(n,s.from,s.to,".hljs .hljs-ln-code",(a=>a.textContent),{scale:!1,styles:[],measure:this.getLocalBoundingBox.bind(this)}),this.findAutoAnimateMatches(n,s.from,s.to,".hljs .hljs-ln-numbers[data-line-number]",(a=>a.getAttribute("data-line-number")),{scale:!1,styles:["width"],measure:this.getLocalBoundingBox.bind(this)}))}),this),n}getLocalBoundingBox(t){let e=this.Reveal.getScale();return{x:Math.round(t.offsetLeft*e*100)/100,y:Math.round(t.offsetTop*e*100)/100,width:Math.round(t.offsetWidth*e*100)/100,height:Math.round(t.offsetHeight*e*100)/100}}findAutoAnimateMatches(t,e,n,i,s,a){let o={},r={};[].slice.call(e.querySelectorAll(i)).forEach(((p,u)=>{let d=s(p);typeof d=="string"&&d.length&&(o[d]=o[d]||[],o[d].push(p))})),[].slice.call(n.querySelectorAll(i)).forEach(((p,u)=>{let d=s(p),g;if(r[d]=r[d]||[],r[d].push(p),o[d]){let y=r[d].length-1,L=o[d].length-1;o[d][y]?(g=o[d][y],o[d][y]=null):o[d][L]&&(g=o[d][L],o[d][L]=null)}g&&t.push({from:g,to:p,options:a})}))}getUnmatchedAutoAnimateElements(t){return[].slice.call(t.children).reduce(((e,n)=>{let i=n.querySelector("[data-auto-animate-target]");return n.hasAttribute("data-auto-animate-target")||i||e.push(n),n.querySelector("[data-auto-animate-target]")&&(e=e.concat(this.getUnmatchedAutoAnimateElements(n))),e}),[])}},he=class{constructor(t){this.Reveal=t,this.active=!1,this.activatedCallbacks=[],this.onScroll=this.onScroll.bind(this)}activate(){if(this.active)return;let t=this.Reveal.getState();this.active=!0,this.slideHTMLBeforeActivation=this.Reveal.getSlidesElement().innerHTML;let e=E(this.Reveal.getRevealElement(),lt),n=E(this.Reveal.getRevealElement(),".backgrounds>.slide-background"),i;this.viewportElement.classList.add("loading-scroll-mode","reveal-scroll");let s=window.getComputedStyle(this.viewportElement);s&&s.background&&(i=s.background);let a=[],o=e[0].parentNode,r,p=(u,d,g,y)=>{let L;if(r&&this.Reveal.shouldAutoAnimateBetween(r,u))L=document.createElement("div"),L.className="scroll-page-content scroll-auto-animate-page",L.style.display="none",r.closest(".scroll-page-content").parentNode.appendChild(L);else{let h=document.createElement("div");if(h.className="scroll-page",a.push(h),y&&n.length>d){let S=n[d],q=window.getComputedStyle(S);q&&q.background?h.style.background=q.background:i&&(h.style.background=i)}else i&&(h.style.background=i);let $=document.createElement("div");$.className="scroll-page-sticky",h.appendChild($),L=document.createElement("div"),L.className="scroll-page-content",$.appendChild(L)}L.appendChild(u),u.classList.remove("past","future"),u.setAttribute("data-index-h",d),u.setAttribute("data-index-v",g),u.slideBackgroundElement&&(u.slideBackgroundElement.remove("past","future"),L.insertBefore(u.slideBackgroundElement,u)),r=u};e.forEach(((u,d)=>{this.Reveal.isVerticalStack(u)?u.querySelectorAll("section").forEach(((g,y)=>{p(g,d,y,!0)})):p(u,d,0)}),this),this.createProgressBar(),E(this.Reveal.getRevealElement(),".stack").forEach((u=>u.remove())),a.forEach((u=>o.appendChild(u))),this.Reveal.slideContent.layout(this.Reveal.getSlidesElement()),this.Reveal.layout(),this.Reveal.setState(t),this.activatedCallbacks.forEach((u=>u())),this.activatedCallbacks=[],this.restoreScrollPosition(),this.viewportElement.classList.remove("loading-scroll-mode"),this.viewportElement.addEventListener("scroll",this.onScroll,{passive:!0})}deactivate(){if(!this.active)return;let t=this.Reveal.getState();this.active=!1,this.viewportElement.removeEventListener("scroll",this.onScroll),this.viewportElement.classList.remove("reveal-scroll"),this.removeProgressBar(),this.Reveal.getSlidesElement().innerHTML=this.slideHTMLBeforeActivation,this.Reveal.sync(),this.Reveal.setState(t),this.slideHTMLBeforeActivation=null}toggle(t){typeof t=="boolean"?t?this.activate():this.deactivate():this.isActive()?this.deactivate():this.activate()}isActive(){return this.active}createProgressBar(){this.progressBar=document.createElement("div"),this.progressBar.className="scrollbar",this.progressBarInner=document.createElement("div"),this.progressBarInner.className="scrollbar-inner",this.progressBar.appendChild(this.progressBarInner),this.progressBarPlayhead=document.createElement("div"),this.progressBarPlayhead.className="scrollbar-playhead",this.progressBarInner.appendChild(this.progressBarPlayhead),this.viewportElement.insertBefore(this.progressBar,this.viewportElement.firstChild);let t=n=>{let i=(n.clientY-this.progressBarInner.getBoundingClientRect().top)/this.progressBarHeight;i=Math.max(Math.min(i,1),0),this.viewportElement.scrollTop=i*(this.viewportElement.scrollHeight-this.viewportElement.offsetHeight)},e=n=>{this.draggingProgressBar=!1,this.showProgressBar(),document.removeEventListener("mousemove",t),document.removeEventListener("mouseup",e)};this.progressBarInner.addEventListener("mousedown",(n=>{n.preventDefault(),this.draggingProgressBar=!0,document.addEventListener("mousemove",t),document.addEventListener("mouseup",e),t(n)}))}removeProgressBar(){this.progressBar&&(this.progressBar.remove(),this.progressBar=null)}layout(){this.isActive()&&(this.syncPages(),this.syncScrollPosition())}syncPages(){let t=this.Reveal.getConfig(),e=this.Reveal.getComputedSlideSize(window.innerWidth,window.innerHeight),n=this.Reveal.getScale(),i=t.scrollLayout==="compact",s=this.viewportElement.offsetHeight,a=e.height*n,o=i?a:s;this.scrollTriggerHeight=i?a:s,this.viewportElement.style.setProperty("--page-height",o+"px"),this.viewportElement.style.scrollSnapType=typeof t.scrollSnap=="string"?`y ${t.scrollSnap}`:"",this.slideTriggers=[];let r=Array.from(this.Reveal.getRevealElement().querySelectorAll(".scroll-page"));this.pages=r.map((p=>{let u=this.createPage({pageElement:p,slideElement:p.querySelector("section"),stickyElement:p.querySelector(".scroll-page-sticky"),contentElement:p.querySelector(".scroll-page-content"),backgroundElement:p.querySelector(".slide-background"),autoAnimateElements:p.querySelectorAll(".scroll-auto-animate-page"),autoAnimatePages:[]});u.pageElement.style.setProperty("--slide-height",t.center===!0?"auto":e.height+"px"),this.slideTriggers.push({page:u,activate:()=>this.activatePage(u),deactivate:()=>this.deactivatePage(u)}),this.createFragmentTriggersForPage(u),u.autoAnimateElements.length>0&&this.createAutoAnimateTriggersForPage(u);let d=Math.max(u.scrollTriggers.length-1,0);d+=u.autoAnimatePages.reduce(((g,y)=>g+Math.max(y.scrollTriggers.length-1,0)),u.autoAnimatePages.length),u.pageElement.querySelectorAll(".scroll-snap-point").forEach((g=>g.remove()));for(let g=0;g<d+1;g++){let y=document.createElement("div");y.className="scroll-snap-point",y.style.height=this.scrollTriggerHeight+"px",y.style.scrollSnapAlign=i?"center":"start",u.pageElement.appendChild(y),g===0&&(y.style.marginTop=-this.scrollTriggerHeight+"px")}return i&&u.scrollTriggers.length>0?(u.pageHeight=s,u.pageElement.style.setProperty("--page-height",s+"px")):(u.pageHeight=o,u.pageElement.style.removeProperty("--page-height")),u.scrollPadding=this.scrollTriggerHeight*d,u.totalHeight=u.pageHeight+u.scrollPadding,u.pageElement.style.setProperty("--page-scroll-padding",u.scrollPadding+"px"),d>0?(u.stickyElement.style.position="sticky",u.stickyElement.style.top=Math.max((s-u.pageHeight)/2,0)+"px"):(u.stickyElement.style.position="relative",u.pageElement.style.scrollSnapAlign=u.pageHeight<s?"center":"start"),u})),this.setTriggerRanges(),this.viewportElement.setAttribute("data-scrollbar",t.scrollProgress),t.scrollProgress&&this.totalScrollTriggerCount>1?(this.progressBar||this.createProgressBar(),this.syncProgressBar()):this.removeProgressBar()}setTriggerRanges(){this.totalScrollTriggerCount=this.slideTriggers.reduce(((e,n)=>e+Math.max(n.page.scrollTriggers.length,1)),0);let t=0;this.slideTriggers.forEach(((e,n)=>{e.range=[t,t+Math.max(e.page.scrollTriggers.length,1)/this.totalScrollTriggerCount];let i=(e.range[1]-e.range[0])/e.page.scrollTriggers.length;e.page.scrollTriggers.forEach(((s,a)=>{s.range=[t+a*i,t+(a+1)*i]})),t=e.range[1]})),this.slideTriggers[this.slideTriggers.length-1].range[1]=1}createFragmentTriggersForPage(t,e){e=e||t.slideElement;let n=this.Reveal.fragments.sort(e.querySelectorAll(".fragment"),!0);return n.length&&(t.fragments=this.Reveal.fragments.sort(e.querySelectorAll(".fragment:not(.disabled)")),t.scrollTriggers.push({activate:()=>{this.Reveal.fragments.update(-1,t.fragments,e)}}),n.forEach(((i,s)=>{t.scrollTriggers.push({activate:()=>{this.Reveal.fragments.update(s,t.fragments,e)}})}))),t.scrollTriggers.length}createAutoAnimateTriggersForPage(t){t.autoAnimateElements.length>0&&this.slideTriggers.push(...Array.from(t.autoAnimateElements).map(((e,n)=>{let i=this.createPage({slideElement:e.querySelector("section"),contentElement:e,backgroundElement:e.querySelector(".slide-background")});return this.createFragmentTriggersForPage(i,i.slideElement),t.autoAnimatePages.push(i),{page:i,activate:()=>this.activatePage(i),deactivate:()=>this.deactivatePage(i)}})))}createPage(t){return t.scrollTriggers=[],t.indexh=parseInt(t.slideElement.getAttribute("data-index-h"),10),t.indexv=parseInt(t.slideElement.getAttribute("data-index-v"),10),t}syncProgressBar(){this.progressBarInner.querySelectorAll(".scrollbar-slide").forEach((a=>a.remove()));let t=this.viewportElement.scrollHeight,e=this.viewportElement.offsetHeight,n=e/t;this.progressBarHeight=this.progressBarInner.offsetHeight,this.playheadHeight=Math.max(n*this.progressBarHeight,8),this.progressBarScrollableHeight=this.progressBarHeight-this.playheadHeight;let i=e/t*this.progressBarHeight,s=Math.min(i/8,4);this.progressBarPlayhead.style.height=this.playheadHeight-s+"px",i>6?this.slideTriggers.forEach((a=>{let{page:o}=a;o.progressBarSlide=document.createElement("div"),o.progressBarSlide.className="scrollbar-slide",o.progressBarSlide.style.top=a.range[0]*this.progressBarHeight+"px",o.progressBarSlide.style.height=(a.range[1]-a.range[0])*this.progressBarHeight-s+"px",o.progressBarSlide.classList.toggle("has-triggers",o.scrollTriggers.length>0),this.progressBarInner.appendChild(o.progressBarSlide),o.scrollTriggerElements=o.scrollTriggers.map(((r,p)=>{let u=document.createElement("div");return u.className="scrollbar-trigger",u.style.top=(r.range[0]-a.range[0])*this.progressBarHeight+"px",u.style.height=(r.range[1]-r.range[0])*this.progressBarHeight-s+"px",o.progressBarSlide.appendChild(u),p===0&&(u.style.display="none"),u}))})):this.pages.forEach((a=>a.progressBarSlide=null))}syncScrollPosition(){let t=this.viewportElement.offsetHeight,e=t/this.viewportElement.scrollHeight,n=this.viewportElement.scrollTop,i=this.viewportElement.scrollHeight-t,s=Math.max(Math.min(n/i,1),0),a=Math.max(Math.min((n+t/2)/this.viewportElement.scrollHeight,1),0),o;this.slideTriggers.forEach((r=>{let{page:p}=r;s>=r.range[0]-2*e&&s<=r.range[1]+2*e&&!p.loaded?(p.loaded=!0,this.Reveal.slideContent.load(p.slideElement)):p.loaded&&(p.loaded=!1,this.Reveal.slideContent.unload(p.slideElement)),s>=r.range[0]&&s<=r.range[1]?(this.activateTrigger(r),o=r.page):r.active&&this.deactivateTrigger(r)})),o&&o.scrollTriggers.forEach((r=>{a>=r.range[0]&&a<=r.range[1]?this.activateTrigger(r):r.active&&this.deactivateTrigger(r)})),this.setProgressBarValue(n/(this.viewportElement.scrollHeight-t))}setProgressBarValue(t){this.progressBar&&(this.progressBarPlayhead.style.transform=`translateY(${t*this.progressBarScrollableHeight}px)`,this.getAllPages().filter((e=>e.progressBarSlide)).forEach((e=>{e.progressBarSlide.classList.toggle("active",e.active===!0),e.scrollTriggers.forEach(((n,i)=>{e.scrollTriggerElements[i].classList.toggle("active",e.active===!0&&n.active===!0)}))})),this.showProgressBar())}showProgressBar(){this.progressBar.classList.add("visible"),clearTimeout(this.hideProgressBarTimeout),this.Reveal.getConfig().scrollProgress!=="auto"||this.draggingProgressBar||(this.hideProgressBarTimeout=setTimeout((()=>{this.progressBar&&this.progressBar.classList.remove("visible")}),500))}prev(){this.viewportElement.scrollTop-=this.scrollTriggerHeight}next(){this.viewportElement.scrollTop+=this.scrollTriggerHeight}scrollToSlide(t){if(this.active){let e=this.getScrollTriggerBySlide(t);e&&(this.viewportElement.scrollTop=e.range[0]*(this.viewportElement.scrollHeight-this.viewportElement.offsetHeight))}else this.activatedCallbacks.push((()=>this.scrollToSlide(t)))}storeScrollPosition(){clearTimeout(this.storeScrollPositionTimeout),this.storeScrollPositionTimeout=setTimeout((()=>{sessionStorage.setItem("reveal-scroll-top",this.viewportElement.scrollTop),sessionStorage.setItem("reveal-scroll-origin",location.origin+location.pathname),this.storeScrollPositionTimeout=null}),50)}restoreScrollPosition(){let t=sessionStorage.getItem("reveal-scroll-top"),e=sessionStorage.getItem("reveal-scroll-origin");t&&e===location.origin+location.pathname&&(this.viewportElement.scrollTop=parseInt(t,10))}activatePage(t){if(!t.active){t.active=!0;let{slideElement:e,backgroundElement:n,contentElement:i,indexh:s,indexv:a}=t;i.style.display="block",e.classList.add("present"),n&&n.classList.add("present"),this.Reveal.setCurrentScrollPage(e,s,a),this.Reveal.backgrounds.bubbleSlideContrastClassToElement(e,this.viewportElement),Array.from(i.parentNode.querySelectorAll(".scroll-page-content")).forEach((o=>{o!==i&&(o.style.display="none")}))}}deactivatePage(t){t.active&&(t.active=!1,t.slideElement&&t.slideElement.classList.remove("present"),t.backgroundElement&&t.backgroundElement.classList.remove("present"))}activateTrigger(t){t.active||(t.active=!0,t.activate())}deactivateTrigger(t){t.active&&(t.active=!1,t.deactivate&&t.deactivate())}getSlideByIndices(t,e){let n=this.getAllPages().find((i=>i.indexh===t&&i.indexv===e));return n?n.slideElement:null}getScrollTriggerBySlide(t){return this.slideTriggers.find((e=>e.page.slideElement===t))}getAllPages(){return this.pages.flatMap((t=>[t,...t.autoAnimatePages||[]]))}onScroll(){this.syncScrollPosition(),this.storeScrollPosition()}get viewportElement(){return this.Reveal.getViewportElement()}},ue=class{constructor(t){this.Reveal=t}async activate(){let t=this.Reveal.getConfig(),e=E(this.Reveal.getRevealElement(),ut),n=t.slideNumber&&/all|print/i.test(t.showSlideNumber),i=this.Reveal.getComputedSlideSize(window.innerWidth,window.innerHeight),s=Math.floor(i.width*(1+t.margin)),a=Math.floor(i.height*(1+t.margin)),o=i.width,r=i.height;await new Promise(requestAnimationFrame),ae("@page{size:"+s+"px "+a+"px; margin: 0px;}"),ae(".reveal section>img, .reveal section>video, .reveal section>iframe{max-width: "+o+"px; max-height:"+r+"px}"),document.documentElement.classList.add("reveal-print","print-pdf"),document.body.style.width=s+"px",document.body.style.height=a+"px";let p=this.Reveal.getViewportElement(),u;if(p){let h=window.getComputedStyle(p);h&&h.background&&(u=h.background)}await new Promise(requestAnimationFrame),this.Reveal.layoutSlideContents(o,r),await new Promise(requestAnimationFrame);let d=e.map((h=>h.scrollHeight)),g=[],y=e[0].parentNode,L=1;e.forEach((function(h,$){if(h.classList.contains("stack")===!1){let S=(s-o)/2,q=(a-r)/2,Z=d[$],M=Math.max(Math.ceil(Z/a),1);M=Math.min(M,t.pdfMaxPagesPerSlide),(M===1&&t.center||h.classList.contains("center"))&&(q=Math.max((a-Z)/2,0));let R=document.createElement("div");if(g.push(R),R.className="pdf-page",R.style.height=(a+t.pdfPageHeightOffset)*M+"px",u&&(R.style.background=u),R.appendChild(h),h.style.left=S+"px",h.style.top=q+"px",h.style.width=o+"px",this.Reveal.slideContent.layout(h),h.slideBackgroundElement&&R.insertBefore(h.slideBackgroundElement,h),t.showNotes){let T=this.Reveal.getSlideNotes(h);if(T){let U=typeof t.showNotes=="string"?t.showNotes:"inline",N=document.createElement("div");N.classList.add("speaker-notes"),N.classList.add("speaker-notes-pdf"),N.setAttribute("data-layout",U),N.innerHTML=T,U==="separate-page"?g.push(N):(N.style.left="8px",N.style.bottom="8px",N.style.width=s-16+"px",R.appendChild(N))}}if(n){let T=document.createElement("div");T.classList.add("slide-number"),T.classList.add("slide-number-pdf"),T.innerHTML=L++,R.appendChild(T)}if(t.pdfSeparateFragments){let T=this.Reveal.fragments.sort(R.querySelectorAll(".fragment"),!0),O;T.forEach((function(U,N){O&&O.forEach((function(C){C.classList.remove("current-fragment")})),U.forEach((function(C){C.classList.add("visible","current-fragment")}),this);let v=R.cloneNode(!0);if(n){let C=N+1;v.querySelector(".slide-number-pdf").innerHTML+="."+C}g.push(v),O=U}),this),T.forEach((function(U){U.forEach((function(N){N.classList.remove("visible","current-fragment")}))}))}else E(R,".fragment:not(.fade-out)").forEach((function(T){T.classList.add("visible")}))}}),this),await new Promise(requestAnimationFrame),g.forEach((h=>y.appendChild(h))),this.Reveal.slideContent.layout(this.Reveal.getSlidesElement()),this.Reveal.dispatchEvent({type:"pdf-ready"}),p.classList.remove("loading-scroll-mode")}isActive(){return this.Reveal.getConfig().view==="print"}},pe=class{constructor(t){this.Reveal=t}configure(t,e){t.fragments===!1?this.disable():e.fragments===!1&&this.enable()}disable(){E(this.Reveal.getSlidesElement(),".fragment").forEach((t=>{t.classList.add("visible"),t.classList.remove("current-fragment")}))}enable(){E(this.Reveal.getSlidesElement(),".fragment").forEach((t=>{t.classList.remove("visible"),t.classList.remove("current-fragment")}))}availableRoutes(){let t=this.Reveal.getCurrentSlide();if(t&&this.Reveal.getConfig().fragments){let e=t.querySelectorAll(".fragment:not(.disabled)"),n=t.querySelectorAll(".fragment:not(.disabled):not(.visible)");return{prev:e.length-n.length>0,next:!!n.length}}return{prev:!1,next:!1}}sort(t,e=!1){t=Array.from(t);let n=[],i=[],s=[];t.forEach((o=>{if(o.hasAttribute("data-fragment-index")){let r=parseInt(o.getAttribute("data-fragment-index"),10);n[r]||(n[r]=[]),n[r].push(o)}else i.push([o])})),n=n.concat(i);let a=0;return n.forEach((o=>{o.forEach((r=>{s.push(r),r.setAttribute("data-fragment-index",a)})),a++})),e===!0?n:s}sortAll(){this.Reveal.getHorizontalSlides().forEach((t=>{let e=E(t,"section");e.forEach(((n,i)=>{this.sort(n.querySelectorAll(".fragment"))}),this),e.length===0&&this.sort(t.querySelectorAll(".fragment"))}))}update(t,e,n=this.Reveal.getCurrentSlide()){let i={shown:[],hidden:[]};if(n&&this.Reveal.getConfig().fragments&&(e=e||this.sort(n.querySelectorAll(".fragment"))).length){let s=0;if(typeof t!="number"){let a=this.sort(n.querySelectorAll(".fragment.visible")).pop();a&&(t=parseInt(a.getAttribute("data-fragment-index")||0,10))}Array.from(e).forEach(((a,o)=>{if(a.hasAttribute("data-fragment-index")&&(o=parseInt(a.getAttribute("data-fragment-index"),10)),s=Math.max(s,o),o<=t){let r=a.classList.contains("visible");a.classList.add("visible"),a.classList.remove("current-fragment"),o===t&&(this.Reveal.announceStatus(this.Reveal.getStatusText(a)),a.classList.add("current-fragment"),this.Reveal.slideContent.startEmbeddedContent(a)),r||(i.shown.push(a),this.Reveal.dispatchEvent({target:a,type:"visible",bubbles:!1}))}else{let r=a.classList.contains("visible");a.classList.remove("visible"),a.classList.remove("current-fragment"),r&&(this.Reveal.slideContent.stopEmbeddedContent(a),i.hidden.push(a),this.Reveal.dispatchEvent({target:a,type:"hidden",bubbles:!1}))}})),t=typeof t=="number"?t:-1,t=Math.max(Math.min(t,s),-1),n.setAttribute("data-fragment",t)}return i.hidden.length&&this.Reveal.dispatchEvent({type:"fragmenthidden",data:{fragment:i.hidden[0],fragments:i.hidden}}),i.shown.length&&this.Reveal.dispatchEvent({type:"fragmentshown",data:{fragment:i.shown[0],fragments:i.shown}}),i}sync(t=this.Reveal.getCurrentSlide()){return this.sort(t.querySelectorAll(".fragment"))}goto(t,e=0){let n=this.Reveal.getCurrentSlide();if(n&&this.Reveal.getConfig().fragments){let i=this.sort(n.querySelectorAll(".fragment:not(.disabled)"));if(i.length){if(typeof t!="number"){let a=this.sort(n.querySelectorAll(".fragment:not(.disabled).visible")).pop();t=a?parseInt(a.getAttribute("data-fragment-index")||0,10):-1}t+=e;let s=this.update(t,i);return this.Reveal.controls.update(),this.Reveal.progress.update(),this.Reveal.getConfig().fragmentInURL&&this.Reveal.location.writeURL(),!(!s.shown.length&&!s.hidden.length)}}return!1}next(){return this.goto(null,1)}prev(){return this.goto(null,-1)}},ge=class{constructor(t){this.Reveal=t,this.active=!1,this.onSlideClicked=this.onSlideClicked.bind(this)}activate(){if(this.Reveal.getConfig().overview&&!this.Reveal.isScrollView()&&!this.isActive()){this.active=!0,this.Reveal.getRevealElement().classList.add("overview"),this.Reveal.cancelAutoSlide(),this.Reveal.getSlidesElement().appendChild(this.Reveal.getBackgroundsElement()),E(this.Reveal.getRevealElement(),ut).forEach((i=>{i.classList.contains("stack")||i.addEventListener("click",this.onSlideClicked,!0)}));let t=70,e=this.Reveal.getComputedSlideSize();this.overviewSlideWidth=e.width+t,this.overviewSlideHeight=e.height+t,this.Reveal.getConfig().rtl&&(this.overviewSlideWidth=-this.overviewSlideWidth),this.Reveal.updateSlidesVisibility(),this.layout(),this.update(),this.Reveal.layout();let n=this.Reveal.getIndices();this.Reveal.dispatchEvent({type:"overviewshown",data:{indexh:n.h,indexv:n.v,currentSlide:this.Reveal.getCurrentSlide()}})}}layout(){this.Reveal.getHorizontalSlides().forEach(((t,e)=>{t.setAttribute("data-index-h",e),ct(t,"translate3d("+e*this.overviewSlideWidth+"px, 0, 0)"),t.classList.contains("stack")&&E(t,"section").forEach(((n,i)=>{n.setAttribute("data-index-h",e),n.setAttribute("data-index-v",i),ct(n,"translate3d(0, "+i*this.overviewSlideHeight+"px, 0)")}))})),Array.from(this.Reveal.getBackgroundsElement().childNodes).forEach(((t,e)=>{ct(t,"translate3d("+e*this.overviewSlideWidth+"px, 0, 0)"),E(t,".slide-background").forEach(((n,i)=>{ct(n,"translate3d(0, "+i*this.overviewSlideHeight+"px, 0)")}))}))}update(){let t=Math.min(window.innerWidth,window.innerHeight),e=Math.max(t/5,150)/t,n=this.Reveal.getIndices();this.Reveal.transformSlides({overview:["scale("+e+")","translateX("+-n.h*this.overviewSlideWidth+"px)","translateY("+-n.v*this.overviewSlideHeight+"px)"].join(" ")})}deactivate(){if(this.Reveal.getConfig().overview){this.active=!1,this.Reveal.getRevealElement().classList.remove("overview"),this.Reveal.getRevealElement().classList.add("overview-deactivating"),setTimeout((()=>{this.Reveal.getRevealElement().classList.remove("overview-deactivating")}),1),this.Reveal.getRevealElement().appendChild(this.Reveal.getBackgroundsElement()),E(this.Reveal.getRevealElement(),ut).forEach((e=>{ct(e,""),e.removeEventListener("click",this.onSlideClicked,!0)})),E(this.Reveal.getBackgroundsElement(),".slide-background").forEach((e=>{ct(e,"")})),this.Reveal.transformSlides({overview:""});let t=this.Reveal.getIndices();this.Reveal.slide(t.h,t.v),this.Reveal.layout(),this.Reveal.cueAutoSlide(),this.Reveal.dispatchEvent({type:"overviewhidden",data:{indexh:t.h,indexv:t.v,currentSlide:this.Reveal.getCurrentSlide()}})}}toggle(t){typeof t=="boolean"?t?this.activate():this.deactivate():this.isActive()?this.deactivate():this.activate()}isActive(){return this.active}onSlideClicked(t){if(this.isActive()){t.preventDefault();let e=t.target;for(;e&&!e.nodeName.match(/section/gi);)e=e.parentNode;if(e&&!e.classList.contains("disabled")&&(this.deactivate(),e.nodeName.match(/section/gi))){let n=parseInt(e.getAttribute("data-index-h"),10),i=parseInt(e.getAttribute("data-index-v"),10);this.Reveal.slide(n,i)}}}},me=class{constructor(t){this.Reveal=t,this.shortcuts={},this.bindings={},this.onDocumentKeyDown=this.onDocumentKeyDown.bind(this)}configure(t,e){t.navigationMode==="linear"?(this.shortcuts["&#8594;  ,  &#8595;  ,  SPACE  ,  N  ,  L  ,  J"]="Next slide",this.shortcuts["&#8592;  ,  &#8593;  ,  P  ,  H  ,  K"]="Previous slide"):(this.shortcuts["N  ,  SPACE"]="Next slide",this.shortcuts["P  ,  Shift SPACE"]="Previous slide",this.shortcuts["&#8592;  ,  H"]="Navigate left",this.shortcuts["&#8594;  ,  L"]="Navigate right",this.shortcuts["&#8593;  ,  K"]="Navigate up",this.shortcuts["&#8595;  ,  J"]="Navigate down"),this.shortcuts["Alt + &#8592;/&#8593/&#8594;/&#8595;"]="Navigate without fragments",this.shortcuts["Shift + &#8592;/&#8593/&#8594;/&#8595;"]="Jump to first/last slide",this.shortcuts["B  ,  ."]="Pause",this.shortcuts.F="Fullscreen",this.shortcuts.G="Jump to slide",this.shortcuts["ESC, O"]="Slide overview"}bind(){document.addEventListener("keydown",this.onDocumentKeyDown,!1)}unbind(){document.removeEventListener("keydown",this.onDocumentKeyDown,!1)}addKeyBinding(t,e){typeof t=="object"&&t.keyCode?this.bindings[t.keyCode]={callback:e,key:t.key,description:t.description}:this.bindings[t]={callback:e,key:null,description:null}}removeKeyBinding(t){delete this.bindings[t]}triggerKey(t){this.onDocumentKeyDown({keyCode:t})}registerKeyboardShortcut(t,e){this.shortcuts[t]=e}getShortcuts(){return this.shortcuts}getBindings(){return this.bindings}onDocumentKeyDown(t){let e=this.Reveal.getConfig();if(typeof e.keyboardCondition=="function"&&e.keyboardCondition(t)===!1||e.keyboardCondition==="focused"&&!this.Reveal.isFocused())return!0;let n=t.keyCode,i=!this.Reveal.isAutoSliding();this.Reveal.onUserInput(t);let s=document.activeElement&&document.activeElement.isContentEditable===!0,a=document.activeElement&&document.activeElement.tagName&&/input|textarea/i.test(document.activeElement.tagName),o=document.activeElement&&document.activeElement.className&&/speaker-notes/i.test(document.activeElement.className),r=!([32,37,38,39,40,63,78,80,191].indexOf(t.keyCode)!==-1&&t.shiftKey||t.altKey)&&(t.shiftKey||t.altKey||t.ctrlKey||t.metaKey);if(s||a||o||r)return;let p,u=[66,86,190,191,112];if(typeof e.keyboard=="object")for(p in e.keyboard)e.keyboard[p]==="togglePause"&&u.push(parseInt(p,10));if(this.Reveal.isOverlayOpen()&&!["Escape","f","c","b","."].includes(t.key)||this.Reveal.isPaused()&&u.indexOf(n)===-1)return!1;let d=e.navigationMode==="linear"||!this.Reveal.hasHorizontalSlides()||!this.Reveal.hasVerticalSlides(),g=!1;if(typeof e.keyboard=="object"){for(p in e.keyboard)if(parseInt(p,10)===n){let y=e.keyboard[p];typeof y=="function"?y.apply(null,[t]):typeof y=="string"&&typeof this.Reveal[y]=="function"&&this.Reveal[y].call(),g=!0}}if(g===!1){for(p in this.bindings)if(parseInt(p,10)===n){let y=this.bindings[p].callback;typeof y=="function"?y.apply(null,[t]):typeof y=="string"&&typeof this.Reveal[y]=="function"&&this.Reveal[y].call(),g=!0}}g===!1&&(g=!0,n===80||n===33?this.Reveal.prev({skipFragments:t.altKey}):n===78||n===34?this.Reveal.next({skipFragments:t.altKey}):n===72||n===37?t.shiftKey?this.Reveal.slide(0):!this.Reveal.overview.isActive()&&d?e.rtl?this.Reveal.next({skipFragments:t.altKey}):this.Reveal.prev({skipFragments:t.altKey}):this.Reveal.left({skipFragments:t.altKey}):n===76||n===39?t.shiftKey?this.Reveal.slide(this.Reveal.getHorizontalSlides().length-1):!this.Reveal.overview.isActive()&&d?e.rtl?this.Reveal.prev({skipFragments:t.altKey}):this.Reveal.next({skipFragments:t.altKey}):this.Reveal.right({skipFragments:t.altKey}):n===75||n===38?t.shiftKey?this.Reveal.slide(void 0,0):!this.Reveal.overview.isActive()&&d?this.Reveal.prev({skipFragments:t.altKey}):this.Reveal.up({skipFragments:t.altKey}):n===74||n===40?t.shiftKey?this.Reveal.slide(void 0,Number.MAX_VALUE):!this.Reveal.overview.isActive()&&d?this.Reveal.next({skipFragments:t.altKey}):this.Reveal.down({skipFragments:t.altKey}):n===36?this.Reveal.slide(0):n===35?this.Reveal.slide(this.Reveal.getHorizontalSlides().length-1):n===32?(this.Reveal.overview.isActive()&&this.Reveal.overview.deactivate(),t.shiftKey?this.Reveal.prev({skipFragments:t.altKey}):this.Reveal.next({skipFragments:t.altKey})):[58,59,66,86,190].includes(n)||n===191&&!t.shiftKey?this.Reveal.togglePause():n===70?vn(e.embedded?this.Reveal.getViewportElement():document.documentElement):n===65?e.autoSlideStoppable&&this.Reveal.toggleAutoSlide(i):n===71?e.jumpToSlide&&this.Reveal.toggleJumpToSlide():n===67&&this.Reveal.isOverlayOpen()?this.Reveal.closeOverlay():n!==63&&n!==191||!t.shiftKey?n===112?this.Reveal.toggleHelp():g=!1:this.Reveal.toggleHelp()),g?t.preventDefault&&t.preventDefault():n!==27&&n!==79||(this.Reveal.closeOverlay()===!1&&this.Reveal.overview.toggle(),t.preventDefault&&t.preventDefault()),this.Reveal.cueAutoSlide()}},ve=class{MAX_REPLACE_STATE_FREQUENCY=1e3;constructor(t){this.Reveal=t,this.writeURLTimeout=0,this.replaceStateTimestamp=0,this.onWindowHashChange=this.onWindowHashChange.bind(this)}bind(){window.addEventListener("hashchange",this.onWindowHashChange,!1)}unbind(){window.removeEventListener("hashchange",this.onWindowHashChange,!1)}getIndicesFromHash(t=window.location.hash,e={}){let n=t.replace(/^#\/?/,""),i=n.split("/");if(/^[0-9]*$/.test(i[0])||!n.length){let s=this.Reveal.getConfig(),a,o=s.hashOneBasedIndex||e.oneBasedIndex?1:0,r=parseInt(i[0],10)-o||0,p=parseInt(i[1],10)-o||0;return s.fragmentInURL&&(a=parseInt(i[2],10),isNaN(a)&&(a=void 0)),{h:r,v:p,f:a}}{let s,a;/\/[-\d]+$/g.test(n)&&(a=parseInt(n.split("/").pop(),10),a=isNaN(a)?void 0:a,n=n.split("/").shift());try{s=document.getElementById(decodeURIComponent(n)).closest(".slides section")}catch{}if(s)return{...this.Reveal.getIndices(s),f:a}}return null}readURL(){let t=this.Reveal.getIndices(),e=this.getIndicesFromHash();e?e.h===t.h&&e.v===t.v&&e.f===void 0||this.Reveal.slide(e.h,e.v,e.f):this.Reveal.slide(t.h||0,t.v||0)}writeURL(t){let e=this.Reveal.getConfig(),n=this.Reveal.getCurrentSlide();if(clearTimeout(this.writeURLTimeout),typeof t=="number")this.writeURLTimeout=setTimeout(this.writeURL,t);else if(n){let i=this.getHash();e.history?window.location.hash=i:e.hash&&(i==="/"?this.debouncedReplaceState(window.location.pathname+window.location.search):this.debouncedReplaceState("#"+i))}}replaceState(t){window.history.replaceState(null,null,t),this.replaceStateTimestamp=Date.now()}debouncedReplaceState(t){clearTimeout(this.replaceStateTimeout),Date.now()-this.replaceStateTimestamp>this.MAX_REPLACE_STATE_FREQUENCY?this.replaceState(t):this.replaceStateTimeout=setTimeout((()=>this.replaceState(t)),this.MAX_REPLACE_STATE_FREQUENCY)}getHash(t){let e="/",n=t||this.Reveal.getCurrentSlide(),i=n?n.getAttribute("id"):null;i&&(i=encodeURIComponent(i));let s=this.Reveal.getIndices(t);if(this.Reveal.getConfig().fragmentInURL||(s.f=void 0),typeof i=="string"&&i.length)e="/"+i,s.f>=0&&(e+="/"+s.f);else{let a=this.Reveal.getConfig().hashOneBasedIndex?1:0;(s.h>0||s.v>0||s.f>=0)&&(e+=s.h+a),(s.v>0||s.f>=0)&&(e+="/"+(s.v+a)),s.f>=0&&(e+="/"+s.f)}return e}onWindowHashChange(t){this.readURL()}},fe=class{constructor(t){this.Reveal=t,this.onNavigateLeftClicked=this.onNavigateLeftClicked.bind(this),this.onNavigateRightClicked=this.onNavigateRightClicked.bind(this),this.onNavigateUpClicked=this.onNavigateUpClicked.bind(this),this.onNavigateDownClicked=this.onNavigateDownClicked.bind(this),this.onNavigatePrevClicked=this.onNavigatePrevClicked.bind(this),this.onNavigateNextClicked=this.onNavigateNextClicked.bind(this),this.onEnterFullscreen=this.onEnterFullscreen.bind(this)}render(){let t=this.Reveal.getConfig().rtl,e=this.Reveal.getRevealElement();this.element=document.createElement("aside"),this.element.className="controls",this.element.innerHTML=`<button class="navigate-left" aria-label="${t?"next slide":"previous slide"}"><div class="controls-arrow"></div></button>
			<button class="navigate-right" aria-label="${t?"previous slide":"next slide"}"><div class="controls-arrow"></div></button>
			<button class="navigate-up" aria-label="above slide"><div class="controls-arrow"></div></button>
			<button class="navigate-down" aria-label="below slide"><div class="controls-arrow"></div></button>`,this.Reveal.getRevealElement().appendChild(this.element),this.controlsLeft=E(e,".navigate-left"),this.controlsRight=E(e,".navigate-right"),this.controlsUp=E(e,".navigate-up"),this.controlsDown=E(e,".navigate-down"),this.controlsPrev=E(e,".navigate-prev"),this.controlsNext=E(e,".navigate-next"),this.controlsFullscreen=E(e,".enter-fullscreen"),this.controlsRightArrow=this.element.querySelector(".navigate-right"),this.controlsLeftArrow=this.element.querySelector(".navigate-left"),this.controlsDownArrow=this.element.querySelector(".navigate-down")}configure(t,e){this.element.style.display=t.controls&&(t.controls!=="speaker-only"||this.Reveal.isSpeakerNotes())?"block":"none",this.element.setAttribute("data-controls-layout",t.controlsLayout),this.element.setAttribute("data-controls-back-arrows",t.controlsBackArrows)}bind(){let t=["touchstart","click"];yn&&(t=["touchstart"]),t.forEach((e=>{this.controlsLeft.forEach((n=>n.addEventListener(e,this.onNavigateLeftClicked,!1))),this.controlsRight.forEach((n=>n.addEventListener(e,this.onNavigateRightClicked,!1))),this.controlsUp.forEach((n=>n.addEventListener(e,this.onNavigateUpClicked,!1))),this.controlsDown.forEach((n=>n.addEventListener(e,this.onNavigateDownClicked,!1))),this.controlsPrev.forEach((n=>n.addEventListener(e,this.onNavigatePrevClicked,!1))),this.controlsNext.forEach((n=>n.addEventListener(e,this.onNavigateNextClicked,!1))),this.controlsFullscreen.forEach((n=>n.addEventListener(e,this.onEnterFullscreen,!1)))}))}unbind(){["touchstart","click"].forEach((t=>{this.controlsLeft.forEach((e=>e.removeEventListener(t,this.onNavigateLeftClicked,!1))),this.controlsRight.forEach((e=>e.removeEventListener(t,this.onNavigateRightClicked,!1))),this.controlsUp.forEach((e=>e.removeEventListener(t,this.onNavigateUpClicked,!1))),this.controlsDown.forEach((e=>e.removeEventListener(t,this.onNavigateDownClicked,!1))),this.controlsPrev.forEach((e=>e.removeEventListener(t,this.onNavigatePrevClicked,!1))),this.controlsNext.forEach((e=>e.removeEventListener(t,this.onNavigateNextClicked,!1))),this.controlsFullscreen.forEach((e=>e.removeEventListener(t,this.onEnterFullscreen,!1)))}))}update(){let t=this.Reveal.availableRoutes();[...this.controlsLeft,...this.controlsRight,...this.controlsUp,...this.controlsDown,...this.controlsPrev,...this.controlsNext].forEach((n=>{n.classList.remove("enabled","fragmented"),n.setAttribute("disabled","disabled")})),t.left&&this.controlsLeft.forEach((n=>{n.classList.add("enabled"),n.removeAttribute("disabled")})),t.right&&this.controlsRight.forEach((n=>{n.classList.add("enabled"),n.removeAttribute("disabled")})),t.up&&this.controlsUp.forEach((n=>{n.classList.add("enabled"),n.removeAttribute("disabled")})),t.down&&this.controlsDown.forEach((n=>{n.classList.add("enabled"),n.removeAttribute("disabled")})),(t.left||t.up)&&this.controlsPrev.forEach((n=>{n.classList.add("enabled"),n.removeAttribute("disabled")})),(t.right||t.down)&&this.controlsNext.forEach((n=>{n.classList.add("enabled"),n.removeAttribute("disabled")}));let e=this.Reveal.getCurrentSlide();if(e){let n=this.Reveal.fragments.availableRoutes();n.prev&&this.controlsPrev.forEach((a=>{a.classList.add("fragmented","enabled"),a.removeAttribute("disabled")})),n.next&&this.controlsNext.forEach((a=>{a.classList.add("fragmented","enabled"),a.removeAttribute("disabled")}));let i=this.Reveal.isVerticalSlide(e),s=i&&e.parentElement&&e.parentElement.querySelectorAll(":scope > section").length>1;i&&s?(n.prev&&this.controlsUp.forEach((a=>{a.classList.add("fragmented","enabled"),a.removeAttribute("disabled")})),n.next&&this.controlsDown.forEach((a=>{a.classList.add("fragmented","enabled"),a.removeAttribute("disabled")}))):(n.prev&&this.controlsLeft.forEach((a=>{a.classList.add("fragmented","enabled"),a.removeAttribute("disabled")})),n.next&&this.controlsRight.forEach((a=>{a.classList.add("fragmented","enabled"),a.removeAttribute("disabled")})))}if(this.Reveal.getConfig().controlsTutorial){let n=this.Reveal.getIndices();!this.Reveal.hasNavigatedVertically()&&t.down?this.controlsDownArrow.classList.add("highlight"):(this.controlsDownArrow.classList.remove("highlight"),this.Reveal.getConfig().rtl?!this.Reveal.hasNavigatedHorizontally()&&t.left&&n.v===0?this.controlsLeftArrow.classList.add("highlight"):this.controlsLeftArrow.classList.remove("highlight"):!this.Reveal.hasNavigatedHorizontally()&&t.right&&n.v===0?this.controlsRightArrow.classList.add("highlight"):this.controlsRightArrow.classList.remove("highlight"))}}destroy(){this.unbind(),this.element.remove()}onNavigateLeftClicked(t){t.preventDefault(),this.Reveal.onUserInput(),this.Reveal.getConfig().navigationMode==="linear"?this.Reveal.prev():this.Reveal.left()}onNavigateRightClicked(t){t.preventDefault(),this.Reveal.onUserInput(),this.Reveal.getConfig().navigationMode==="linear"?this.Reveal.next():this.Reveal.right()}onNavigateUpClicked(t){t.preventDefault(),this.Reveal.onUserInput(),this.Reveal.up()}onNavigateDownClicked(t){t.preventDefault(),this.Reveal.onUserInput(),this.Reveal.down()}onNavigatePrevClicked(t){t.preventDefault(),this.Reveal.onUserInput(),this.Reveal.prev()}onNavigateNextClicked(t){t.preventDefault(),this.Reveal.onUserInput(),this.Reveal.next()}onEnterFullscreen(t){let e=this.Reveal.getConfig(),n=this.Reveal.getViewportElement();vn(e.embedded?n:n.parentElement)}},ye=class{constructor(t){this.Reveal=t,this.onProgressClicked=this.onProgressClicked.bind(this)}render(){this.element=document.createElement("div"),this.element.className="progress",this.Reveal.getRevealElement().appendChild(this.element),this.bar=document.createElement("span"),this.element.appendChild(this.bar)}configure(t,e){this.element.style.display=t.progress?"block":"none"}bind(){this.Reveal.getConfig().progress&&this.element&&this.element.addEventListener("click",this.onProgressClicked,!1)}unbind(){this.Reveal.getConfig().progress&&this.element&&this.element.removeEventListener("click",this.onProgressClicked,!1)}update(){if(this.Reveal.getConfig().progress&&this.bar){let t=this.Reveal.getProgress();this.Reveal.getTotalSlides()<2&&(t=0),this.bar.style.transform="scaleX("+t+")"}}getMaxWidth(){return this.Reveal.getRevealElement().offsetWidth}onProgressClicked(t){this.Reveal.onUserInput(t),t.preventDefault();let e=this.Reveal.getSlides(),n=e.length,i=Math.floor(t.clientX/this.getMaxWidth()*n);this.Reveal.getConfig().rtl&&(i=n-i);let s=this.Reveal.getIndices(e[i]);this.Reveal.slide(s.h,s.v)}destroy(){this.element.remove()}},be=class{constructor(t){this.Reveal=t,this.lastMouseWheelStep=0,this.cursorHidden=!1,this.cursorInactiveTimeout=0,this.onDocumentCursorActive=this.onDocumentCursorActive.bind(this),this.onDocumentMouseScroll=this.onDocumentMouseScroll.bind(this)}configure(t,e){t.mouseWheel?document.addEventListener("wheel",this.onDocumentMouseScroll,!1):document.removeEventListener("wheel",this.onDocumentMouseScroll,!1),t.hideInactiveCursor?(document.addEventListener("mousemove",this.onDocumentCursorActive,!1),document.addEventListener("mousedown",this.onDocumentCursorActive,!1)):(this.showCursor(),document.removeEventListener("mousemove",this.onDocumentCursorActive,!1),document.removeEventListener("mousedown",this.onDocumentCursorActive,!1))}showCursor(){this.cursorHidden&&(this.cursorHidden=!1,this.Reveal.getRevealElement().style.cursor="")}hideCursor(){this.cursorHidden===!1&&(this.cursorHidden=!0,this.Reveal.getRevealElement().style.cursor="none")}destroy(){this.showCursor(),document.removeEventListener("wheel",this.onDocumentMouseScroll,!1),document.removeEventListener("mousemove",this.onDocumentCursorActive,!1),document.removeEventListener("mousedown",this.onDocumentCursorActive,!1)}onDocumentCursorActive(t){this.showCursor(),clearTimeout(this.cursorInactiveTimeout),this.cursorInactiveTimeout=setTimeout(this.hideCursor.bind(this),this.Reveal.getConfig().hideCursorTime)}onDocumentMouseScroll(t){if(Date.now()-this.lastMouseWheelStep>1e3){this.lastMouseWheelStep=Date.now();let e=t.detail||-t.wheelDelta;e>0?this.Reveal.next():e<0&&this.Reveal.prev()}}},pn=(l,t)=>{let e=document.createElement("script");e.type="text/javascript",e.async=!1,e.defer=!1,e.src=l,typeof t=="function"&&(e.onload=e.onreadystatechange=i=>{(i.type==="load"||/loaded|complete/.test(e.readyState))&&(e.onload=e.onreadystatechange=e.onerror=null,t())},e.onerror=i=>{e.onload=e.onreadystatechange=e.onerror=null,t(new Error("Failed loading script: "+e.src+`
`+i))});let n=document.querySelector("head");n.insertBefore(e,n.lastChild)},we=class{constructor(t){this.Reveal=t,this.state="idle",this.registeredPlugins={},this.asyncDependencies=[]}load(t,e){return this.state="loading",t.forEach(this.registerPlugin.bind(this)),new Promise((n=>{let i=[],s=0;if(e.forEach((a=>{a.condition&&!a.condition()||(a.async?this.asyncDependencies.push(a):i.push(a))})),i.length){s=i.length;let a=o=>{o&&typeof o.callback=="function"&&o.callback(),--s==0&&this.initPlugins().then(n)};i.forEach((o=>{typeof o.id=="string"?(this.registerPlugin(o),a(o)):typeof o.src=="string"?pn(o.src,(()=>a(o))):(console.warn("Unrecognized plugin format",o),a())}))}else this.initPlugins().then(n)}))}initPlugins(){return new Promise((t=>{let e=Object.values(this.registeredPlugins),n=e.length;if(n===0)this.loadAsync().then(t);else{let i,s=()=>{--n==0?this.loadAsync().then(t):i()},a=0;i=()=>{let o=e[a++];if(typeof o.init=="function"){let r=o.init(this.Reveal);r&&typeof r.then=="function"?r.then(s):s()}else s()},i()}}))}loadAsync(){return this.state="loaded",this.asyncDependencies.length&&this.asyncDependencies.forEach((t=>{pn(t.src,t.callback)})),Promise.resolve()}registerPlugin(t){arguments.length===2&&typeof arguments[0]=="string"?(t=arguments[1]).id=arguments[0]:typeof t=="function"&&(t=t());let e=t.id;typeof e!="string"?console.warn("Unrecognized plugin format; can't find plugin.id",t):this.registeredPlugins[e]===void 0?(this.registeredPlugins[e]=t,this.state==="loaded"&&typeof t.init=="function"&&t.init(this.Reveal)):console.warn('reveal.js: "'+e+'" plugin has already been registered')}hasPlugin(t){return!!this.registeredPlugins[t]}getPlugin(t){return this.registeredPlugins[t]}getRegisteredPlugins(){return this.registeredPlugins}destroy(){Object.values(this.registeredPlugins).forEach((t=>{typeof t.destroy=="function"&&t.destroy()})),this.registeredPlugins={},this.asyncDependencies=[]}},ke=class{constructor(t){this.Reveal=t,this.onSlidesClicked=this.onSlidesClicked.bind(this),this.iframeTriggerSelector=null,this.mediaTriggerSelector="[data-preview-image], [data-preview-video]",this.stateProps=["previewIframe","previewImage","previewVideo","previewFit"],this.state={}}update(){this.Reveal.getConfig().previewLinks?this.iframeTriggerSelector="a[href]:not([data-preview-link=false]), [data-preview-link]:not(a):not([data-preview-link=false])":this.iframeTriggerSelector="[data-preview-link]:not([data-preview-link=false])";let t=this.Reveal.getSlidesElement().querySelectorAll(this.iframeTriggerSelector).length>0,e=this.Reveal.getSlidesElement().querySelectorAll(this.mediaTriggerSelector).length>0;t||e?this.Reveal.getSlidesElement().addEventListener("click",this.onSlidesClicked,!1):this.Reveal.getSlidesElement().removeEventListener("click",this.onSlidesClicked,!1)}createOverlay(t){this.dom=document.createElement("div"),this.dom.classList.add("r-overlay"),this.dom.classList.add(t),this.viewport=document.createElement("div"),this.viewport.classList.add("r-overlay-viewport"),this.dom.appendChild(this.viewport),this.Reveal.getRevealElement().appendChild(this.dom)}previewIframe(t){this.close(),this.state={previewIframe:t},this.createOverlay("r-overlay-preview"),this.dom.dataset.state="loading",this.viewport.innerHTML=`<header class="r-overlay-header">
				<a class="r-overlay-button r-overlay-external" href="${t}" target="_blank"><span class="icon"></span></a>
				<button class="r-overlay-button r-overlay-close"><span class="icon"></span></button>
			</header>
			<div class="r-overlay-spinner"></div>
			<div class="r-overlay-content">
				<iframe src="${t}"></iframe>
				<small class="r-overlay-content-inner">
					<span class="r-overlay-error x-frame-error">Unable to load iframe. This is likely due to the site's policy (x-frame-options).</span>
				</small>
			</div>`,this.dom.querySelector("iframe").addEventListener("load",(e=>{this.dom.dataset.state="loaded"}),!1),this.dom.querySelector(".r-overlay-close").addEventListener("click",(e=>{this.close(),e.preventDefault()}),!1),this.dom.querySelector(".r-overlay-external").addEventListener("click",(e=>{this.close()}),!1),this.Reveal.dispatchEvent({type:"previewiframe",data:{url:t}})}previewMedia(t,e,n){if(e!=="image"&&e!=="video")return void console.warn("Please specify a valid media type to preview (image|video)");this.close(),n=n||"scale-down",this.createOverlay("r-overlay-preview"),this.dom.dataset.state="loading",this.dom.dataset.previewFit=n,this.viewport.innerHTML=`<header class="r-overlay-header">
				<button class="r-overlay-button r-overlay-close">Esc <span class="icon"></span></button>
			</header>
			<div class="r-overlay-spinner"></div>
			<div class="r-overlay-content"></div>`;let i=this.dom.querySelector(".r-overlay-content");if(e==="image"){this.state={previewImage:t,previewFit:n};let s=document.createElement("img",{});s.src=t,i.appendChild(s),s.addEventListener("load",(()=>{this.dom.dataset.state="loaded"}),!1),s.addEventListener("error",(()=>{this.dom.dataset.state="error",i.innerHTML='<span class="r-overlay-error">Unable to load image.</span>'}),!1),this.dom.style.cursor="zoom-out",this.dom.addEventListener("click",(a=>{this.close()}),!1),this.Reveal.dispatchEvent({type:"previewimage",data:{url:t}})}else{if(e!=="video")throw new Error("Please specify a valid media type to preview");{this.state={previewVideo:t,previewFit:n};let s=document.createElement("video");s.autoplay=this.dom.dataset.previewAutoplay!=="false",s.controls=this.dom.dataset.previewControls!=="false",s.loop=this.dom.dataset.previewLoop==="true",s.muted=this.dom.dataset.previewMuted==="true",s.playsInline=!0,s.src=t,i.appendChild(s),s.addEventListener("loadeddata",(()=>{this.dom.dataset.state="loaded"}),!1),s.addEventListener("error",(()=>{this.dom.dataset.state="error",i.innerHTML='<span class="r-overlay-error">Unable to load video.</span>'}),!1),this.Reveal.dispatchEvent({type:"previewvideo",data:{url:t}})}}this.dom.querySelector(".r-overlay-close").addEventListener("click",(s=>{this.close(),s.preventDefault()}),!1)}previewImage(t,e){this.previewMedia(t,"image",e)}previewVideo(t,e){this.previewMedia(t,"video",e)}toggleHelp(t){typeof t=="boolean"?t?this.showHelp():this.close():this.dom?this.close():this.showHelp()}showHelp(){if(this.Reveal.getConfig().help){this.close(),this.createOverlay("r-overlay-help");let t='<p class="title">Keyboard Shortcuts</p>',e=this.Reveal.keyboard.getShortcuts(),n=this.Reveal.keyboard.getBindings();t+="<table><th>KEY</th><th>ACTION</th>";for(let i in e)t+=`<tr><td>${i}</td><td>${e[i]}</td></tr>`;for(let i in n)n[i].key&&n[i].description&&(t+=`<tr><td>${n[i].key}</td><td>${n[i].description}</td></tr>`);t+="</table>",this.viewport.innerHTML=`
				<header class="r-overlay-header">
					<button class="r-overlay-button r-overlay-close">Esc <span class="icon"></span></button>
				</header>
				<div class="r-overlay-content">
					<div class="r-overlay-help-content">${t}</div>
				</div>
			`,this.dom.querySelector(".r-overlay-close").addEventListener("click",(i=>{this.close(),i.preventDefault()}),!1),this.Reveal.dispatchEvent({type:"showhelp"})}}isOpen(){return!!this.dom}close(){return!!this.dom&&(this.dom.remove(),this.dom=null,this.state={},this.Reveal.dispatchEvent({type:"closeoverlay"}),!0)}getState(){return this.state}setState(t){this.stateProps.every((e=>this.state[e]===t[e]))||(t.previewIframe?this.previewIframe(t.previewIframe):t.previewImage?this.previewImage(t.previewImage,t.previewFit):t.previewVideo?this.previewVideo(t.previewVideo,t.previewFit):this.close())}onSlidesClicked(t){let e=t.target,n=e.closest(this.iframeTriggerSelector),i=e.closest(this.mediaTriggerSelector);if(n){if(t.metaKey||t.shiftKey||t.altKey)return;let s=n.getAttribute("href")||n.getAttribute("data-preview-link");s&&(this.previewIframe(s),t.preventDefault())}else if(i){if(i.hasAttribute("data-preview-image")){let s=i.dataset.previewImage||i.getAttribute("src");s&&(this.previewImage(s,i.dataset.previewFit),t.preventDefault())}else if(i.hasAttribute("data-preview-video")){let s=i.dataset.previewVideo||i.getAttribute("src");if(!s){let a=i.querySelector("source");a&&(s=a.getAttribute("src"))}s&&(this.previewVideo(s,i.dataset.previewFit),t.preventDefault())}}}destroy(){this.close()}},Se=class{constructor(t){this.Reveal=t,this.touchStartX=0,this.touchStartY=0,this.touchStartCount=0,this.touchCaptured=!1,this.onPointerDown=this.onPointerDown.bind(this),this.onPointerMove=this.onPointerMove.bind(this),this.onPointerUp=this.onPointerUp.bind(this),this.onTouchStart=this.onTouchStart.bind(this),this.onTouchMove=this.onTouchMove.bind(this),this.onTouchEnd=this.onTouchEnd.bind(this)}bind(){let t=this.Reveal.getRevealElement();"onpointerdown"in window?(t.addEventListener("pointerdown",this.onPointerDown,!1),t.addEventListener("pointermove",this.onPointerMove,!1),t.addEventListener("pointerup",this.onPointerUp,!1)):window.navigator.msPointerEnabled?(t.addEventListener("MSPointerDown",this.onPointerDown,!1),t.addEventListener("MSPointerMove",this.onPointerMove,!1),t.addEventListener("MSPointerUp",this.onPointerUp,!1)):(t.addEventListener("touchstart",this.onTouchStart,!1),t.addEventListener("touchmove",this.onTouchMove,!1),t.addEventListener("touchend",this.onTouchEnd,!1))}unbind(){let t=this.Reveal.getRevealElement();t.removeEventListener("pointerdown",this.onPointerDown,!1),t.removeEventListener("pointermove",this.onPointerMove,!1),t.removeEventListener("pointerup",this.onPointerUp,!1),t.removeEventListener("MSPointerDown",this.onPointerDown,!1),t.removeEventListener("MSPointerMove",this.onPointerMove,!1),t.removeEventListener("MSPointerUp",this.onPointerUp,!1),t.removeEventListener("touchstart",this.onTouchStart,!1),t.removeEventListener("touchmove",this.onTouchMove,!1),t.removeEventListener("touchend",this.onTouchEnd,!1)}isSwipePrevented(t){if(_t(t,"video[controls], audio[controls]"))return!0;for(;t&&typeof t.hasAttribute=="function";){if(t.hasAttribute("data-prevent-swipe"))return!0;t=t.parentNode}return!1}onTouchStart(t){if(this.touchCaptured=!1,this.isSwipePrevented(t.target))return!0;this.touchStartX=t.touches[0].clientX,this.touchStartY=t.touches[0].clientY,this.touchStartCount=t.touches.length}onTouchMove(t){if(this.isSwipePrevented(t.target))return!0;let e=this.Reveal.getConfig();if(this.touchCaptured)yn&&t.preventDefault();else{this.Reveal.onUserInput(t);let n=t.touches[0].clientX,i=t.touches[0].clientY;if(t.touches.length===1&&this.touchStartCount!==2){let s=this.Reveal.availableRoutes({includeFragments:!0}),a=n-this.touchStartX,o=i-this.touchStartY;a>40&&Math.abs(a)>Math.abs(o)?(this.touchCaptured=!0,e.navigationMode==="linear"?e.rtl?this.Reveal.next():this.Reveal.prev():this.Reveal.left()):a<-40&&Math.abs(a)>Math.abs(o)?(this.touchCaptured=!0,e.navigationMode==="linear"?e.rtl?this.Reveal.prev():this.Reveal.next():this.Reveal.right()):o>40&&s.up?(this.touchCaptured=!0,e.navigationMode==="linear"?this.Reveal.prev():this.Reveal.up()):o<-40&&s.down&&(this.touchCaptured=!0,e.navigationMode==="linear"?this.Reveal.next():this.Reveal.down()),e.embedded?(this.touchCaptured||this.Reveal.isVerticalSlide())&&t.preventDefault():t.preventDefault()}}}onTouchEnd(t){this.touchCaptured=!1}onPointerDown(t){t.pointerType!==t.MSPOINTER_TYPE_TOUCH&&t.pointerType!=="touch"||(t.touches=[{clientX:t.clientX,clientY:t.clientY}],this.onTouchStart(t))}onPointerMove(t){t.pointerType!==t.MSPOINTER_TYPE_TOUCH&&t.pointerType!=="touch"||(t.touches=[{clientX:t.clientX,clientY:t.clientY}],this.onTouchMove(t))}onPointerUp(t){t.pointerType!==t.MSPOINTER_TYPE_TOUCH&&t.pointerType!=="touch"||(t.touches=[{clientX:t.clientX,clientY:t.clientY}],this.onTouchEnd(t))}},se="focus",gn="blur",Ee=class{constructor(t){this.Reveal=t,this.onRevealPointerDown=this.onRevealPointerDown.bind(this),this.onDocumentPointerDown=this.onDocumentPointerDown.bind(this)}configure(t,e){t.embedded?this.blur():(this.focus(),this.unbind())}bind(){this.Reveal.getConfig().embedded&&this.Reveal.getRevealElement().addEventListener("pointerdown",this.onRevealPointerDown,!1)}unbind(){this.Reveal.getRevealElement().removeEventListener("pointerdown",this.onRevealPointerDown,!1),document.removeEventListener("pointerdown",this.onDocumentPointerDown,!1)}focus(){this.state!==se&&(this.Reveal.getRevealElement().classList.add("focused"),document.addEventListener("pointerdown",this.onDocumentPointerDown,!1)),this.state=se}blur(){this.state!==gn&&(this.Reveal.getRevealElement().classList.remove("focused"),document.removeEventListener("pointerdown",this.onDocumentPointerDown,!1)),this.state=gn}isFocused(){return this.state===se}destroy(){this.Reveal.getRevealElement().classList.remove("focused")}onRevealPointerDown(t){this.focus()}onDocumentPointerDown(t){let e=W(t.target,".reveal");e&&e===this.Reveal.getRevealElement()||this.blur()}},xe=class{constructor(t){this.Reveal=t}render(){this.element=document.createElement("div"),this.element.className="speaker-notes",this.element.setAttribute("data-prevent-swipe",""),this.element.setAttribute("tabindex","0"),this.Reveal.getRevealElement().appendChild(this.element)}configure(t,e){t.showNotes&&this.element.setAttribute("data-layout",typeof t.showNotes=="string"?t.showNotes:"inline")}update(){this.Reveal.getConfig().showNotes&&this.element&&this.Reveal.getCurrentSlide()&&!this.Reveal.isScrollView()&&!this.Reveal.isPrintView()&&(this.element.innerHTML=this.getSlideNotes()||'<span class="notes-placeholder">No notes on this slide.</span>')}updateVisibility(){this.Reveal.getConfig().showNotes&&this.hasNotes()&&!this.Reveal.isScrollView()&&!this.Reveal.isPrintView()?this.Reveal.getRevealElement().classList.add("show-notes"):this.Reveal.getRevealElement().classList.remove("show-notes")}hasNotes(){return this.Reveal.getSlidesElement().querySelectorAll("[data-notes], aside.notes").length>0}isSpeakerNotesWindow(){return!!window.location.search.match(/receiver/gi)}getSlideNotes(t=this.Reveal.getCurrentSlide()){if(t.hasAttribute("data-notes"))return t.getAttribute("data-notes");let e=t.querySelectorAll("aside.notes");return e?Array.from(e).map((n=>n.innerHTML)).join(`
`):null}destroy(){this.element.remove()}},Ae=class{constructor(t,e){this.diameter=100,this.diameter2=this.diameter/2,this.thickness=6,this.playing=!1,this.progress=0,this.progressOffset=1,this.container=t,this.progressCheck=e,this.canvas=document.createElement("canvas"),this.canvas.className="playback",this.canvas.width=this.diameter,this.canvas.height=this.diameter,this.canvas.style.width=this.diameter2+"px",this.canvas.style.height=this.diameter2+"px",this.context=this.canvas.getContext("2d"),this.container.appendChild(this.canvas),this.render()}setPlaying(t){let e=this.playing;this.playing=t,!e&&this.playing?this.animate():this.render()}animate(){let t=this.progress;this.progress=this.progressCheck(),t>.8&&this.progress<.2&&(this.progressOffset=this.progress),this.render(),this.playing&&requestAnimationFrame(this.animate.bind(this))}render(){let t=this.playing?this.progress:0,e=this.diameter2-this.thickness,n=this.diameter2,i=this.diameter2,s=28;this.progressOffset+=.1*(1-this.progressOffset);let a=-Math.PI/2+t*(2*Math.PI),o=-Math.PI/2+this.progressOffset*(2*Math.PI);this.context.save(),this.context.clearRect(0,0,this.diameter,this.diameter),this.context.beginPath(),this.context.arc(n,i,e+4,0,2*Math.PI,!1),this.context.fillStyle="rgba( 0, 0, 0, 0.4 )",this.context.fill(),this.context.beginPath(),this.context.arc(n,i,e,0,2*Math.PI,!1),this.context.lineWidth=this.thickness,this.context.strokeStyle="rgba( 255, 255, 255, 0.2 )",this.context.stroke(),this.playing&&(this.context.beginPath(),this.context.arc(n,i,e,o,a,!1),this.context.lineWidth=this.thickness,this.context.strokeStyle="#fff",this.context.stroke()),this.context.translate(n-14,i-14),this.playing?(this.context.fillStyle="#fff",this.context.fillRect(0,0,10,s),this.context.fillRect(18,0,10,s)):(this.context.beginPath(),this.context.translate(4,0),this.context.moveTo(0,0),this.context.lineTo(24,14),this.context.lineTo(0,s),this.context.fillStyle="#fff",this.context.fill()),this.context.restore()}on(t,e){this.canvas.addEventListener(t,e,!1)}off(t,e){this.canvas.removeEventListener(t,e,!1)}destroy(){this.playing=!1,this.canvas.parentNode&&this.container.removeChild(this.canvas)}},$n={width:960,height:700,margin:.04,minScale:.2,maxScale:2,controls:!0,controlsTutorial:!0,controlsLayout:"bottom-right",controlsBackArrows:"faded",progress:!0,slideNumber:!1,showSlideNumber:"all",hashOneBasedIndex:!1,hash:!1,respondToHashChanges:!0,jumpToSlide:!0,history:!1,keyboard:!0,keyboardCondition:null,disableLayout:!1,overview:!0,center:!0,touch:!0,loop:!1,rtl:!1,navigationMode:"default",shuffle:!1,fragments:!0,fragmentInURL:!0,embedded:!1,help:!0,pause:!0,showNotes:!1,showHiddenSlides:!1,autoPlayMedia:null,preloadIframes:null,autoAnimate:!0,autoAnimateMatcher:null,autoAnimateEasing:"ease",autoAnimateDuration:1,autoAnimateUnmatched:!0,autoAnimateStyles:["opacity","color","background-color","padding","font-size","line-height","letter-spacing","border-width","border-color","border-radius","outline","outline-offset"],autoSlide:0,autoSlideStoppable:!0,autoSlideMethod:null,defaultTiming:null,mouseWheel:!1,previewLinks:!1,postMessage:!0,postMessageEvents:!1,focusBodyOnPageVisibilityChange:!0,transition:"slide",transitionSpeed:"default",backgroundTransition:"fade",parallaxBackgroundImage:"",parallaxBackgroundSize:"",parallaxBackgroundRepeat:"",parallaxBackgroundPosition:"",parallaxBackgroundHorizontal:null,parallaxBackgroundVertical:null,view:null,scrollLayout:"full",scrollSnap:"mandatory",scrollProgress:"auto",scrollActivationWidth:435,pdfMaxPagesPerSlide:Number.POSITIVE_INFINITY,pdfSeparateFragments:!0,pdfPageHeightOffset:-1,viewDistance:3,mobileViewDistance:2,display:"block",hideInactiveCursor:!0,hideCursorTime:5e3,sortFragmentsOnSync:!0,dependencies:[],plugins:[]},bn="5.2.1";function wn(l,t){arguments.length<2&&(t=arguments[0],l=document.querySelector(".reveal"));let e={},n,i,s,a,o,r={},p=!1,u=!1,d={hasNavigatedHorizontally:!1,hasNavigatedVertically:!1},g=[],y=1,L={layout:"",overview:""},h={},$="idle",S=0,q=0,Z=-1,M=!1,R=new re(e),T=new oe(e),O=new le(e),U=new de(e),N=new ce(e),v=new he(e),C=new ue(e),P=new pe(e),B=new ge(e),K=new me(e),Y=new ve(e),V=new fe(e),nt=new ye(e),Pe=new be(e),tt=new we(e),F=new ke(e),dt=new Ee(e),Wt=new Se(e),G=new xe(e);function Mn(){p!==!1&&(u=!0,r.showHiddenSlides||E(h.wrapper,'section[data-visibility="hidden"]').forEach((c=>{let m=c.parentNode;m.childElementCount===1&&/section/i.test(m.nodeName)?m.remove():c.remove()})),(function(){h.slides.classList.add("no-transition"),wt?h.wrapper.classList.add("no-hover"):h.wrapper.classList.remove("no-hover"),N.render(),T.render(),O.render(),V.render(),nt.render(),G.render(),h.pauseOverlay=((c,m,f,b="")=>{let w=c.querySelectorAll("."+f);for(let z=0;z<w.length;z++){let _=w[z];if(_.parentNode===c)return _}let I=document.createElement(m);return I.className=f,I.innerHTML=b,c.appendChild(I),I})(h.wrapper,"div","pause-overlay",r.controls?'<button class="resume-button">Resume presentation</button>':null),h.statusElement=(function(){let c=h.wrapper.querySelector(".aria-status");return c||(c=document.createElement("div"),c.style.position="absolute",c.style.height="1px",c.style.width="1px",c.style.overflow="hidden",c.style.clip="rect( 1px, 1px, 1px, 1px )",c.classList.add("aria-status"),c.setAttribute("aria-live","polite"),c.setAttribute("aria-atomic","true"),h.wrapper.appendChild(c)),c})(),h.wrapper.setAttribute("role","application")})(),r.postMessage&&window.addEventListener("message",sn,!1),setInterval((()=>{(!v.isActive()&&h.wrapper.scrollTop!==0||h.wrapper.scrollLeft!==0)&&(h.wrapper.scrollTop=0,h.wrapper.scrollLeft=0)}),1e3),document.addEventListener("fullscreenchange",Bt),document.addEventListener("webkitfullscreenchange",Bt),ot().forEach((c=>{E(c,"section").forEach(((m,f)=>{f>0&&(m.classList.remove("present"),m.classList.remove("past"),m.classList.add("future"),m.setAttribute("aria-hidden","true"))}))})),Ie(),N.update(!0),(function(){let c=r.view==="print",m=r.view==="scroll"||r.view==="reader";(c||m)&&(c?Tt():Wt.unbind(),h.viewport.classList.add("loading-scroll-mode"),c?document.readyState==="complete"?C.activate():window.addEventListener("load",(()=>C.activate())):v.activate())})(),Y.readURL(),setTimeout((()=>{h.slides.classList.remove("no-transition"),h.wrapper.classList.add("ready"),Q({type:"ready",data:{indexh:n,indexv:i,currentSlide:a}})}),1))}function jt(c){h.statusElement.textContent=c}function Lt(c){let m="";if(c.nodeType===3)m+=c.textContent;else if(c.nodeType===1){let f=c.getAttribute("aria-hidden"),b=window.getComputedStyle(c).display==="none";f==="true"||b||Array.from(c.childNodes).forEach((w=>{m+=Lt(w)}))}return m=m.trim(),m===""?"":m+" "}function Ie(c){let m={...r};if(typeof c=="object"&&bt(r,c),e.isReady()===!1)return;let f=h.wrapper.querySelectorAll(ut).length;h.wrapper.classList.remove(m.transition),h.wrapper.classList.add(r.transition),h.wrapper.setAttribute("data-transition-speed",r.transitionSpeed),h.wrapper.setAttribute("data-background-transition",r.backgroundTransition),h.viewport.style.setProperty("--slide-width",typeof r.width=="string"?r.width:r.width+"px"),h.viewport.style.setProperty("--slide-height",typeof r.height=="string"?r.height:r.height+"px"),r.shuffle&&Zt(),ne(h.wrapper,"embedded",r.embedded),ne(h.wrapper,"rtl",r.rtl),ne(h.wrapper,"center",r.center),r.pause===!1&&St(),U.reset(),o&&(o.destroy(),o=null),f>1&&r.autoSlide&&r.autoSlideStoppable&&(o=new Ae(h.wrapper,(()=>Math.min(Math.max((Date.now()-Z)/S,0),1))),o.on("click",zn),M=!1),r.navigationMode!=="default"?h.wrapper.setAttribute("data-navigation-mode",r.navigationMode):h.wrapper.removeAttribute("data-navigation-mode"),G.configure(r,m),dt.configure(r,m),Pe.configure(r,m),V.configure(r,m),nt.configure(r,m),K.configure(r,m),P.configure(r,m),T.configure(r,m),Ve()}function Ne(){window.addEventListener("resize",on,!1),r.touch&&Wt.bind(),r.keyboard&&K.bind(),r.progress&&nt.bind(),r.respondToHashChanges&&Y.bind(),V.bind(),dt.bind(),h.slides.addEventListener("click",rn,!1),h.slides.addEventListener("transitionend",an,!1),h.pauseOverlay.addEventListener("click",St,!1),r.focusBodyOnPageVisibilityChange&&document.addEventListener("visibilitychange",ln,!1)}function Tt(){Wt.unbind(),dt.unbind(),K.unbind(),V.unbind(),nt.unbind(),Y.unbind(),window.removeEventListener("resize",on,!1),h.slides.removeEventListener("click",rn,!1),h.slides.removeEventListener("transitionend",an,!1),h.pauseOverlay.removeEventListener("click",St,!1)}function Me(c,m,f){l.addEventListener(c,m,f)}function ze(c,m,f){l.removeEventListener(c,m,f)}function Kt(c){typeof c.layout=="string"&&(L.layout=c.layout),typeof c.overview=="string"&&(L.overview=c.overview),L.layout?ct(h.slides,L.layout+" "+L.overview):ct(h.slides,L.overview)}function Q({target:c=h.wrapper,type:m,data:f,bubbles:b=!0}){let w=document.createEvent("HTMLEvents",1,2);return w.initEvent(m,b,!0),bt(w,f),c.dispatchEvent(w),c===h.wrapper&&He(m),w}function Be(c){Q({type:"slidechanged",data:{indexh:n,indexv:i,previousSlide:s,currentSlide:a,origin:c}})}function He(c,m){if(r.postMessageEvents&&window.parent!==window.self){let f={namespace:"reveal",eventName:c,state:en()};bt(f,m),window.parent.postMessage(JSON.stringify(f),"*")}}function vt(){if(h.wrapper&&!C.isActive()){let c=h.viewport.offsetWidth,m=h.viewport.offsetHeight;if(!r.disableLayout){wt&&!r.embedded&&document.documentElement.style.setProperty("--vh",.01*window.innerHeight+"px");let f=v.isActive()?Ct(c,m):Ct(),b=y;_e(r.width,r.height),h.slides.style.width=f.width+"px",h.slides.style.height=f.height+"px",y=Math.min(f.presentationWidth/f.width,f.presentationHeight/f.height),y=Math.max(y,r.minScale),y=Math.min(y,r.maxScale),y===1||v.isActive()?(h.slides.style.zoom="",h.slides.style.left="",h.slides.style.top="",h.slides.style.bottom="",h.slides.style.right="",Kt({layout:""})):(h.slides.style.zoom="",h.slides.style.left="50%",h.slides.style.top="50%",h.slides.style.bottom="auto",h.slides.style.right="auto",Kt({layout:"translate(-50%, -50%) scale("+y+")"}));let w=Array.from(h.wrapper.querySelectorAll(ut));for(let I=0,z=w.length;I<z;I++){let _=w[I];_.style.display!=="none"&&(r.center||_.classList.contains("center")?_.classList.contains("stack")?_.style.top=0:_.style.top=Math.max((f.height-_.scrollHeight)/2,0)+"px":_.style.top="")}b!==y&&Q({type:"resize",data:{oldScale:b,scale:y,size:f}})}(function(){if(h.wrapper&&!r.disableLayout&&!C.isActive()&&typeof r.scrollActivationWidth=="number"&&r.view!=="scroll"){let f=Ct();f.presentationWidth>0&&f.presentationWidth<=r.scrollActivationWidth?v.isActive()||(N.create(),v.activate()):v.isActive()&&v.deactivate()}})(),h.viewport.style.setProperty("--slide-scale",y),h.viewport.style.setProperty("--viewport-width",c+"px"),h.viewport.style.setProperty("--viewport-height",m+"px"),v.layout(),nt.update(),N.updateParallax(),B.isActive()&&B.update()}}function _e(c,m){E(h.slides,"section > .stretch, section > .r-stretch").forEach((f=>{let b=((w,I=0)=>{if(w){let z,_=w.style.height;return w.style.height="0px",w.parentNode.style.height="auto",z=I-w.parentNode.offsetHeight,w.style.height=_+"px",w.parentNode.style.removeProperty("height"),z}return I})(f,m);if(/(img|video)/gi.test(f.nodeName)){let w=f.naturalWidth||f.videoWidth,I=f.naturalHeight||f.videoHeight,z=Math.min(c/w,b/I);f.style.width=w*z+"px",f.style.height=I*z+"px"}else f.style.width=c+"px",f.style.height=b+"px"}))}function Ct(c,m){let f=r.width,b=r.height;r.disableLayout&&(f=h.slides.offsetWidth,b=h.slides.offsetHeight);let w={width:f,height:b,presentationWidth:c||h.wrapper.offsetWidth,presentationHeight:m||h.wrapper.offsetHeight};return w.presentationWidth-=w.presentationWidth*r.margin,w.presentationHeight-=w.presentationHeight*r.margin,typeof w.width=="string"&&/%$/.test(w.width)&&(w.width=parseInt(w.width,10)/100*w.presentationWidth),typeof w.height=="string"&&/%$/.test(w.height)&&(w.height=parseInt(w.height,10)/100*w.presentationHeight),w}function De(c,m){typeof c=="object"&&typeof c.setAttribute=="function"&&c.setAttribute("data-previous-indexv",m||0)}function $e(c){if(typeof c=="object"&&typeof c.setAttribute=="function"&&c.classList.contains("stack")){let m=c.hasAttribute("data-start-indexv")?"data-start-indexv":"data-previous-indexv";return parseInt(c.getAttribute(m)||0,10)}return 0}function kt(c=a){return c&&c.parentNode&&!!c.parentNode.nodeName.match(/section/i)}function qe(){return!(!a||!kt(a))&&!a.nextElementSibling}function Oe(){return n===0&&i===0}function Yt(){return!!a&&!a.nextElementSibling&&(!kt(a)||!a.parentNode.nextElementSibling)}function Fe(){if(r.pause){let c=h.wrapper.classList.contains("paused");Pt(),h.wrapper.classList.add("paused"),c===!1&&Q({type:"paused"})}}function St(){let c=h.wrapper.classList.contains("paused");h.wrapper.classList.remove("paused"),ft(),c&&Q({type:"resumed"})}function Ue(c){typeof c=="boolean"?c?Fe():St():Et()?St():Fe()}function Et(){return h.wrapper.classList.contains("paused")}function et(c,m,f,b){if(Q({type:"beforeslidechange",data:{indexh:c===void 0?n:c,indexv:m===void 0?i:m,origin:b}}).defaultPrevented)return;s=a;let w=h.wrapper.querySelectorAll(lt);if(v.isActive()){let J=v.getSlideByIndices(c,m);return void(J&&v.scrollToSlide(J))}if(w.length===0)return;m!==void 0||B.isActive()||(m=$e(w[c])),s&&s.parentNode&&s.parentNode.classList.contains("stack")&&De(s.parentNode,i);let I=g.concat();g.length=0;let z=n||0,_=i||0;n=We(lt,c===void 0?n:c),i=We(hn,m===void 0?i:m);let st=n!==z||i!==_;st||(s=null);let ht=w[n],X=ht.querySelectorAll("section");l.classList.toggle("is-vertical-slide",X.length>1),a=X[i]||ht;let D=!1;st&&s&&a&&!B.isActive()&&($="running",D=Xt(s,a,z,_),D&&h.slides.classList.add("disable-slide-transitions")),Jt(),vt(),B.isActive()&&B.update(),f!==void 0&&P.goto(f),s&&s!==a&&(s.classList.remove("present"),s.setAttribute("aria-hidden","true"),Oe()&&setTimeout((()=>{E(h.wrapper,lt+".stack").forEach((J=>{De(J,0)}))}),0));t:for(let J=0,Bn=g.length;J<Bn;J++){for(let Ht=0;Ht<I.length;Ht++)if(I[Ht]===g[J]){I.splice(Ht,1);continue t}h.viewport.classList.add(g[J]),Q({type:g[J]})}for(;I.length;)h.viewport.classList.remove(I.pop());st&&Be(b),!st&&s||(R.stopEmbeddedContent(s),R.startEmbeddedContent(a)),requestAnimationFrame((()=>{jt(Lt(a))})),nt.update(),V.update(),G.update(),N.update(),N.updateParallax(),T.update(),P.update(),Y.writeURL(),ft(),D&&(setTimeout((()=>{h.slides.classList.remove("disable-slide-transitions")}),0),r.autoAnimate&&U.run(s,a))}function Xt(c,m,f,b){return c.hasAttribute("data-auto-animate")&&m.hasAttribute("data-auto-animate")&&c.getAttribute("data-auto-animate-id")===m.getAttribute("data-auto-animate-id")&&!(n>f||i>b?m:c).hasAttribute("data-auto-animate-restart")}function Ve(){Tt(),Ne(),vt(),S=r.autoSlide,ft(),N.create(),Y.writeURL(),r.sortFragmentsOnSync===!0&&P.sortAll(),V.update(),nt.update(),Jt(),G.update(),G.updateVisibility(),F.update(),N.update(!0),T.update(),R.formatEmbeddedContent(),r.autoPlayMedia===!1?R.stopEmbeddedContent(a,{unloadIframes:!1}):R.startEmbeddedContent(a),B.isActive()&&B.layout()}function Zt(c=ot()){c.forEach(((m,f)=>{let b=c[Math.floor(Math.random()*c.length)];b.parentNode===m.parentNode&&m.parentNode.insertBefore(m,b);let w=m.querySelectorAll("section");w.length&&Zt(w)}))}function We(c,m){let f=E(h.wrapper,c),b=f.length,w=v.isActive()||C.isActive(),I=!1,z=!1;if(b){r.loop&&(m>=b&&(I=!0),(m%=b)<0&&(m=b+m,z=!0)),m=Math.max(Math.min(m,b-1),0);for(let X=0;X<b;X++){let D=f[X],J=r.rtl&&!kt(D);D.classList.remove("past"),D.classList.remove("present"),D.classList.remove("future"),D.setAttribute("hidden",""),D.setAttribute("aria-hidden","true"),D.querySelector("section")&&D.classList.add("stack"),w?D.classList.add("present"):X<m?(D.classList.add(J?"future":"past"),r.fragments&&je(D)):X>m?(D.classList.add(J?"past":"future"),r.fragments&&Ke(D)):X===m&&r.fragments&&(I?Ke(D):z&&je(D))}let _=f[m],st=_.classList.contains("present");_.classList.add("present"),_.removeAttribute("hidden"),_.removeAttribute("aria-hidden"),st||Q({target:_,type:"visible",bubbles:!1});let ht=_.getAttribute("data-state");ht&&(g=g.concat(ht.split(" ")))}else m=0;return m}function je(c){E(c,".fragment").forEach((m=>{m.classList.add("visible"),m.classList.remove("current-fragment")}))}function Ke(c){E(c,".fragment.visible").forEach((m=>{m.classList.remove("visible","current-fragment")}))}function Jt(){let c,m,f=ot(),b=f.length;if(b&&n!==void 0){let w=B.isActive()?10:r.viewDistance;wt&&(w=B.isActive()?6:r.mobileViewDistance),C.isActive()&&(w=Number.MAX_VALUE);for(let I=0;I<b;I++){let z=f[I],_=E(z,"section"),st=_.length;if(c=Math.abs((n||0)-I)||0,r.loop&&(c=Math.abs(((n||0)-I)%(b-w))||0),c<w?R.load(z):R.unload(z),st){let ht=$e(z);for(let X=0;X<st;X++){let D=_[X];m=Math.abs(I===(n||0)?(i||0)-X:X-ht),c+m<w?R.load(D):R.unload(D)}}}Qe()?h.wrapper.classList.add("has-vertical-slides"):h.wrapper.classList.remove("has-vertical-slides"),Je()?h.wrapper.classList.add("has-horizontal-slides"):h.wrapper.classList.remove("has-horizontal-slides")}}function it({includeFragments:c=!1}={}){let m=h.wrapper.querySelectorAll(lt),f=h.wrapper.querySelectorAll(hn),b={left:n>0,right:n<m.length-1,up:i>0,down:i<f.length-1};if(r.loop&&(m.length>1&&(b.left=!0,b.right=!0),f.length>1&&(b.up=!0,b.down=!0)),m.length>1&&r.navigationMode==="linear"&&(b.right=b.right||b.down,b.left=b.left||b.up),c===!0){let w=P.availableRoutes();b.left=b.left||w.prev,b.up=b.up||w.prev,b.down=b.down||w.next,b.right=b.right||w.next}if(r.rtl){let w=b.left;b.left=b.right,b.right=w}return b}function Ye(c=a){let m=ot(),f=0;t:for(let b=0;b<m.length;b++){let w=m[b],I=w.querySelectorAll("section");for(let z=0;z<I.length;z++){if(I[z]===c)break t;I[z].dataset.visibility!=="uncounted"&&f++}if(w===c)break;w.classList.contains("stack")===!1&&w.dataset.visibility!=="uncounted"&&f++}return f}function Xe(c){let m,f=n,b=i;if(c)if(v.isActive())f=parseInt(c.getAttribute("data-index-h"),10),c.getAttribute("data-index-v")&&(b=parseInt(c.getAttribute("data-index-v"),10));else{let w=kt(c),I=w?c.parentNode:c,z=ot();f=Math.max(z.indexOf(I),0),b=void 0,w&&(b=Math.max(E(c.parentNode,"section").indexOf(c),0))}if(!c&&a&&a.querySelectorAll(".fragment").length>0){let w=a.querySelector(".current-fragment");m=w&&w.hasAttribute("data-fragment-index")?parseInt(w.getAttribute("data-fragment-index"),10):a.querySelectorAll(".fragment.visible").length-1}return{h:f,v:b,f:m}}function Qt(){return E(h.wrapper,ut+':not(.stack):not([data-visibility="uncounted"])')}function ot(){return E(h.wrapper,lt)}function Ze(){return E(h.wrapper,".slides>section>section")}function Je(){return ot().length>1}function Qe(){return Ze().length>1}function Ge(){return Qt().length}function tn(c,m){let f=ot()[c],b=f&&f.querySelectorAll("section");return b&&b.length&&typeof m=="number"?b?b[m]:void 0:f}function en(){let c=Xe();return{indexh:c.h,indexv:c.v,indexf:c.f,paused:Et(),overview:B.isActive(),...F.getState()}}function ft(){if(Pt(),a&&r.autoSlide!==!1){let c=a.querySelector(".current-fragment[data-autoslide]"),m=c?c.getAttribute("data-autoslide"):null,f=a.parentNode?a.parentNode.getAttribute("data-autoslide"):null,b=a.getAttribute("data-autoslide");m?S=parseInt(m,10):b?S=parseInt(b,10):f?S=parseInt(f,10):(S=r.autoSlide,a.querySelectorAll(".fragment").length===0&&E(a,"video, audio").forEach((w=>{w.hasAttribute("data-autoplay")&&S&&1e3*w.duration/w.playbackRate>S&&(S=1e3*w.duration/w.playbackRate+1e3)}))),!S||M||Et()||B.isActive()||Yt()&&!P.availableRoutes().next&&r.loop!==!0||(q=setTimeout((()=>{typeof r.autoSlideMethod=="function"?r.autoSlideMethod():ee(),ft()}),S),Z=Date.now()),o&&o.setPlaying(q!==-1)}}function Pt(){clearTimeout(q),q=-1}function It(){S&&!M&&(M=!0,Q({type:"autoslidepaused"}),clearTimeout(q),o&&o.setPlaying(!1))}function Nt(){S&&M&&(M=!1,Q({type:"autoslideresumed"}),ft())}function Mt({skipFragments:c=!1}={}){if(d.hasNavigatedHorizontally=!0,v.isActive())return v.prev();r.rtl?(B.isActive()||c||P.next()===!1)&&it().left&&et(n+1,r.navigationMode==="grid"?i:void 0):(B.isActive()||c||P.prev()===!1)&&it().left&&et(n-1,r.navigationMode==="grid"?i:void 0)}function zt({skipFragments:c=!1}={}){if(d.hasNavigatedHorizontally=!0,v.isActive())return v.next();r.rtl?(B.isActive()||c||P.prev()===!1)&&it().right&&et(n-1,r.navigationMode==="grid"?i:void 0):(B.isActive()||c||P.next()===!1)&&it().right&&et(n+1,r.navigationMode==="grid"?i:void 0)}function Gt({skipFragments:c=!1}={}){if(v.isActive())return v.prev();(B.isActive()||c||P.prev()===!1)&&it().up&&et(n,i-1)}function te({skipFragments:c=!1}={}){if(d.hasNavigatedVertically=!0,v.isActive())return v.next();(B.isActive()||c||P.next()===!1)&&it().down&&et(n,i+1)}function nn({skipFragments:c=!1}={}){if(v.isActive())return v.prev();if(c||P.prev()===!1)if(it().up)Gt({skipFragments:c});else{let m;if(m=r.rtl?E(h.wrapper,lt+".future").pop():E(h.wrapper,lt+".past").pop(),m&&m.classList.contains("stack")){let f=m.querySelectorAll("section").length-1||void 0;et(n-1,f)}else r.rtl?zt({skipFragments:c}):Mt({skipFragments:c})}}function ee({skipFragments:c=!1}={}){if(d.hasNavigatedHorizontally=!0,d.hasNavigatedVertically=!0,v.isActive())return v.next();if(c||P.next()===!1){let m=it();m.down&&m.right&&r.loop&&qe()&&(m.down=!1),m.down?te({skipFragments:c}):r.rtl?Mt({skipFragments:c}):zt({skipFragments:c})}}function sn(c){let m=c.data;if(typeof m=="string"&&m.charAt(0)==="{"&&m.charAt(m.length-1)==="}"&&(m=JSON.parse(m),m.method&&typeof e[m.method]=="function"))if(Dn.test(m.method)===!1){let f=e[m.method].apply(e,m.args);He("callback",{method:m.method,result:f})}else console.warn('reveal.js: "'+m.method+'" is is blacklisted from the postMessage API')}function an(c){$==="running"&&/section/gi.test(c.target.nodeName)&&($="idle",Q({type:"slidetransitionend",data:{indexh:n,indexv:i,previousSlide:s,currentSlide:a}}))}function rn(c){let m=W(c.target,'a[href^="#"]');if(m){let f=m.getAttribute("href"),b=Y.getIndicesFromHash(f);b&&(e.slide(b.h,b.v,b.f),c.preventDefault())}}function on(c){vt()}function ln(c){document.hidden===!1&&document.activeElement!==document.body&&(typeof document.activeElement.blur=="function"&&document.activeElement.blur(),document.body.focus())}function Bt(c){(document.fullscreenElement||document.webkitFullscreenElement)===h.wrapper&&(c.stopImmediatePropagation(),setTimeout((()=>{e.layout(),e.focus.focus()}),1))}function zn(c){Yt()&&r.loop===!1?(et(0,0),Nt()):M?Nt():It()}let cn={VERSION:bn,initialize:function(c){if(!l)throw'Unable to find presentation root (<div class="reveal">).';if(p)throw"Reveal.js has already been initialized.";if(p=!0,h.wrapper=l,h.slides=l.querySelector(".slides"),!h.slides)throw'Unable to find slides container (<div class="slides">).';return r={...$n,...r,...t,...c,...dn()},/print-pdf/gi.test(window.location.search)&&(r.view="print"),(function(){r.embedded===!0?h.viewport=W(l,".reveal-viewport")||l:(h.viewport=document.body,document.documentElement.classList.add("reveal-full-page")),h.viewport.classList.add("reveal-viewport")})(),window.addEventListener("load",vt,!1),tt.load(r.plugins,r.dependencies).then(Mn),new Promise((m=>e.on("ready",m)))},configure:Ie,destroy:function(){p=!1,u!==!1&&(Tt(),Pt(),G.destroy(),dt.destroy(),F.destroy(),tt.destroy(),Pe.destroy(),V.destroy(),nt.destroy(),N.destroy(),T.destroy(),O.destroy(),document.removeEventListener("fullscreenchange",Bt),document.removeEventListener("webkitfullscreenchange",Bt),document.removeEventListener("visibilitychange",ln,!1),window.removeEventListener("message",sn,!1),window.removeEventListener("load",vt,!1),h.pauseOverlay&&h.pauseOverlay.remove(),h.statusElement&&h.statusElement.remove(),document.documentElement.classList.remove("reveal-full-page"),h.wrapper.classList.remove("ready","center","has-horizontal-slides","has-vertical-slides"),h.wrapper.removeAttribute("data-transition-speed"),h.wrapper.removeAttribute("data-background-transition"),h.viewport.classList.remove("reveal-viewport"),h.viewport.style.removeProperty("--slide-width"),h.viewport.style.removeProperty("--slide-height"),h.slides.style.removeProperty("width"),h.slides.style.removeProperty("height"),h.slides.style.removeProperty("zoom"),h.slides.style.removeProperty("left"),h.slides.style.removeProperty("top"),h.slides.style.removeProperty("bottom"),h.slides.style.removeProperty("right"),h.slides.style.removeProperty("transform"),Array.from(h.wrapper.querySelectorAll(ut)).forEach((c=>{c.style.removeProperty("display"),c.style.removeProperty("top"),c.removeAttribute("hidden"),c.removeAttribute("aria-hidden")})))},sync:Ve,syncSlide:function(c=a){N.sync(c),P.sync(c),R.load(c),N.update(),G.update()},syncFragments:P.sync.bind(P),slide:et,left:Mt,right:zt,up:Gt,down:te,prev:nn,next:ee,navigateLeft:Mt,navigateRight:zt,navigateUp:Gt,navigateDown:te,navigatePrev:nn,navigateNext:ee,navigateFragment:P.goto.bind(P),prevFragment:P.prev.bind(P),nextFragment:P.next.bind(P),on:Me,off:ze,addEventListener:Me,removeEventListener:ze,layout:vt,shuffle:Zt,availableRoutes:it,availableFragments:P.availableRoutes.bind(P),toggleHelp:F.toggleHelp.bind(F),toggleOverview:B.toggle.bind(B),toggleScrollView:v.toggle.bind(v),togglePause:Ue,toggleAutoSlide:function(c){typeof c=="boolean"?c?Nt():It():M?Nt():It()},toggleJumpToSlide:function(c){typeof c=="boolean"?c?O.show():O.hide():O.isVisible()?O.hide():O.show()},isFirstSlide:Oe,isLastSlide:Yt,isLastVerticalSlide:qe,isVerticalSlide:kt,isVerticalStack:function(c=a){return c.classList.contains(".stack")||c.querySelector("section")!==null},isPaused:Et,isAutoSliding:function(){return!(!S||M)},isSpeakerNotes:G.isSpeakerNotesWindow.bind(G),isOverview:B.isActive.bind(B),isFocused:dt.isFocused.bind(dt),isOverlayOpen:F.isOpen.bind(F),isScrollView:v.isActive.bind(v),isPrintView:C.isActive.bind(C),isReady:()=>u,loadSlide:R.load.bind(R),unloadSlide:R.unload.bind(R),startEmbeddedContent:()=>R.startEmbeddedContent(a),stopEmbeddedContent:()=>R.stopEmbeddedContent(a,{unloadIframes:!1}),previewIframe:F.previewIframe.bind(F),previewImage:F.previewImage.bind(F),previewVideo:F.previewVideo.bind(F),showPreview:F.previewIframe.bind(F),hidePreview:F.close.bind(F),addEventListeners:Ne,removeEventListeners:Tt,dispatchEvent:Q,getState:en,setState:function(c){if(typeof c=="object"){et(yt(c.indexh),yt(c.indexv),yt(c.indexf));let m=yt(c.paused),f=yt(c.overview);typeof m=="boolean"&&m!==Et()&&Ue(m),typeof f=="boolean"&&f!==B.isActive()&&B.toggle(f),F.setState(c)}},getProgress:function(){let c=Ge(),m=Ye();if(a){let f=a.querySelectorAll(".fragment");f.length>0&&(m+=a.querySelectorAll(".fragment.visible").length/f.length*.9)}return Math.min(m/(c-1),1)},getIndices:Xe,getSlidesAttributes:function(){return Qt().map((c=>{let m={};for(let f=0;f<c.attributes.length;f++){let b=c.attributes[f];m[b.name]=b.value}return m}))},getSlidePastCount:Ye,getTotalSlides:Ge,getSlide:tn,getPreviousSlide:()=>s,getCurrentSlide:()=>a,getSlideBackground:function(c,m){let f=typeof c=="number"?tn(c,m):c;if(f)return f.slideBackgroundElement},getSlideNotes:G.getSlideNotes.bind(G),getSlides:Qt,getHorizontalSlides:ot,getVerticalSlides:Ze,hasHorizontalSlides:Je,hasVerticalSlides:Qe,hasNavigatedHorizontally:()=>d.hasNavigatedHorizontally,hasNavigatedVertically:()=>d.hasNavigatedVertically,shouldAutoAnimateBetween:Xt,addKeyBinding:K.addKeyBinding.bind(K),removeKeyBinding:K.removeKeyBinding.bind(K),triggerKey:K.triggerKey.bind(K),registerKeyboardShortcut:K.registerKeyboardShortcut.bind(K),getComputedSlideSize:Ct,setCurrentScrollPage:function(c,m,f){let b=n||0;n=m,i=f;let w=a!==c;s=a,a=c,a&&s&&r.autoAnimate&&Xt(s,a,b,i)&&U.run(s,a),w&&(s&&(R.stopEmbeddedContent(s),R.stopEmbeddedContent(s.slideBackgroundElement)),R.startEmbeddedContent(a),R.startEmbeddedContent(a.slideBackgroundElement)),requestAnimationFrame((()=>{jt(Lt(a))})),Be()},getScale:()=>y,getConfig:()=>r,getQueryHash:dn,getSlidePath:Y.getHash.bind(Y),getRevealElement:()=>l,getSlidesElement:()=>h.slides,getViewportElement:()=>h.viewport,getBackgroundsElement:()=>N.element,registerPlugin:tt.registerPlugin.bind(tt),hasPlugin:tt.hasPlugin.bind(tt),getPlugin:tt.getPlugin.bind(tt),getPlugins:tt.getRegisteredPlugins.bind(tt)};return bt(e,{...cn,announceStatus:jt,getStatusText:Lt,focus:dt,scroll:v,progress:nt,controls:V,location:Y,overview:B,keyboard:K,fragments:P,backgrounds:N,slideContent:R,slideNumber:T,onUserInput:function(c){r.autoSlideStoppable&&It()},closeOverlay:F.close.bind(F),updateSlidesVisibility:Jt,layoutSlideContents:_e,transformSlides:Kt,cueAutoSlide:ft,cancelAutoSlide:Pt}),cn}var at=wn,mn=[];at.initialize=l=>(Object.assign(at,new wn(document.querySelector(".reveal"),l)),mn.map((t=>t(at))),at.initialize()),["configure","on","off","addEventListener","removeEventListener","registerPlugin"].forEach((l=>{at[l]=(...t)=>{mn.push((e=>e[l].call(null,...t)))}})),at.isReady=()=>!1,at.VERSION=bn;function qn(){return{async:!1,baseUrl:null,breaks:!1,extensions:null,gfm:!0,headerIds:!0,headerPrefix:"",highlight:null,hooks:null,langPrefix:"language-",mangle:!0,pedantic:!1,renderer:null,sanitize:!1,sanitizer:null,silent:!1,smartypants:!1,tokenizer:null,walkTokens:null,xhtml:!1}}var mt={async:!1,baseUrl:null,breaks:!1,extensions:null,gfm:!0,headerIds:!0,headerPrefix:"",highlight:null,hooks:null,langPrefix:"language-",mangle:!0,pedantic:!1,renderer:null,sanitize:!1,sanitizer:null,silent:!1,smartypants:!1,tokenizer:null,walkTokens:null,xhtml:!1},Ln=/[&<>"']/,On=new RegExp(Ln.source,"g"),Tn=/[<>"']|&(?!(#\d{1,7}|#[Xx][a-fA-F0-9]{1,6}|\w+);)/,Fn=new RegExp(Tn.source,"g"),Un={"&":"&amp;","<":"&lt;",">":"&gt;",'"':"&quot;","'":"&#39;"},kn=l=>Un[l];function j(l,t){if(t){if(Ln.test(l))return l.replace(On,kn)}else if(Tn.test(l))return l.replace(Fn,kn);return l}var Vn=/&(#(?:\d+)|(?:#x[0-9A-Fa-f]+)|(?:\w+));?/gi;function Cn(l){return l.replace(Vn,((t,e)=>(e=e.toLowerCase())==="colon"?":":e.charAt(0)==="#"?e.charAt(1)==="x"?String.fromCharCode(parseInt(e.substring(2),16)):String.fromCharCode(+e.substring(1)):""))}var Wn=/(^|[^\[])\^/g;function H(l,t){l=typeof l=="string"?l:l.source,t=t||"";let e={replace:(n,i)=>(i=(i=i.source||i).replace(Wn,"$1"),l=l.replace(n,i),e),getRegex:()=>new RegExp(l,t)};return e}var jn=/[^\w:]/g,Kn=/^$|^[a-z][a-z0-9+.-]*:|^[?#]/i;function Sn(l,t,e){if(l){let n;try{n=decodeURIComponent(Cn(e)).replace(jn,"").toLowerCase()}catch{return null}if(n.indexOf("javascript:")===0||n.indexOf("vbscript:")===0||n.indexOf("data:")===0)return null}t&&!Kn.test(e)&&(e=(function(n,i){Dt[" "+n]||(Yn.test(n)?Dt[" "+n]=n+"/":Dt[" "+n]=$t(n,"/",!0)),n=Dt[" "+n];let s=n.indexOf(":")===-1;return i.substring(0,2)==="//"?s?i:n.replace(Xn,"$1")+i:i.charAt(0)==="/"?s?i:n.replace(Zn,"$1")+i:n+i})(t,e));try{e=encodeURI(e).replace(/%25/g,"%")}catch{return null}return e}var Dt={},Yn=/^[^:]+:\/*[^/]*$/,Xn=/^([^:]+:)[\s\S]*$/,Zn=/^([^:]+:\/*[^/]*)[\s\S]*$/,qt={exec:function(){}};function En(l,t){let e=l.replace(/\|/g,((i,s,a)=>{let o=!1,r=s;for(;--r>=0&&a[r]==="\\";)o=!o;return o?"|":" |"})).split(/ \|/),n=0;if(e[0].trim()||e.shift(),e.length>0&&!e[e.length-1].trim()&&e.pop(),e.length>t)e.splice(t);else for(;e.length<t;)e.push("");for(;n<e.length;n++)e[n]=e[n].trim().replace(/\\\|/g,"|");return e}function $t(l,t,e){let n=l.length;if(n===0)return"";let i=0;for(;i<n;){let s=l.charAt(n-i-1);if(s!==t||e){if(s===t||!e)break;i++}else i++}return l.slice(0,n-i)}function xn(l,t){if(t<1)return"";let e="";for(;t>1;)1&t&&(e+=l),t>>=1,l+=l;return e+l}function An(l,t,e,n){let i=t.href,s=t.title?j(t.title):null,a=l[1].replace(/\\([\[\]])/g,"$1");if(l[0].charAt(0)!=="!"){n.state.inLink=!0;let o={type:"link",raw:e,href:i,title:s,text:a,tokens:n.inlineTokens(a)};return n.state.inLink=!1,o}return{type:"image",raw:e,href:i,title:s,text:j(a)}}var At=class{constructor(t){this.options=t||mt}space(t){let e=this.rules.block.newline.exec(t);if(e&&e[0].length>0)return{type:"space",raw:e[0]}}code(t){let e=this.rules.block.code.exec(t);if(e){let n=e[0].replace(/^ {1,4}/gm,"");return{type:"code",raw:e[0],codeBlockStyle:"indented",text:this.options.pedantic?n:$t(n,`
`)}}}fences(t){let e=this.rules.block.fences.exec(t);if(e){let n=e[0],i=(function(s,a){let o=s.match(/^(\s+)(?:```)/);if(o===null)return a;let r=o[1];return a.split(`
`).map((p=>{let u=p.match(/^\s+/);if(u===null)return p;let[d]=u;return d.length>=r.length?p.slice(r.length):p})).join(`
`)})(n,e[3]||"");return{type:"code",raw:n,lang:e[2]?e[2].trim().replace(this.rules.inline._escapes,"$1"):e[2],text:i}}}heading(t){let e=this.rules.block.heading.exec(t);if(e){let n=e[2].trim();if(/#$/.test(n)){let i=$t(n,"#");this.options.pedantic?n=i.trim():i&&!/ $/.test(i)||(n=i.trim())}return{type:"heading",raw:e[0],depth:e[1].length,text:n,tokens:this.lexer.inline(n)}}}hr(t){let e=this.rules.block.hr.exec(t);if(e)return{type:"hr",raw:e[0]}}blockquote(t){let e=this.rules.block.blockquote.exec(t);if(e){let n=e[0].replace(/^ *>[ \t]?/gm,""),i=this.lexer.state.top;this.lexer.state.top=!0;let s=this.lexer.blockTokens(n);return this.lexer.state.top=i,{type:"blockquote",raw:e[0],tokens:s,text:n}}}list(t){let e=this.rules.block.list.exec(t);if(e){let n,i,s,a,o,r,p,u,d,g,y,L,h=e[1].trim(),$=h.length>1,S={type:"list",raw:"",ordered:$,start:$?+h.slice(0,-1):"",loose:!1,items:[]};h=$?`\\d{1,9}\\${h.slice(-1)}`:`\\${h}`,this.options.pedantic&&(h=$?h:"[*+-]");let q=new RegExp(`^( {0,3}${h})((?:[	 ][^\\n]*)?(?:\\n|$))`);for(;t&&(L=!1,e=q.exec(t))&&!this.rules.block.hr.test(t);){if(n=e[0],t=t.substring(n.length),u=e[2].split(`
`,1)[0].replace(/^\t+/,(M=>" ".repeat(3*M.length))),d=t.split(`
`,1)[0],this.options.pedantic?(a=2,y=u.trimLeft()):(a=e[2].search(/[^ ]/),a=a>4?1:a,y=u.slice(a),a+=e[1].length),r=!1,!u&&/^ *$/.test(d)&&(n+=d+`
`,t=t.substring(d.length+1),L=!0),!L){let M=new RegExp(`^ {0,${Math.min(3,a-1)}}(?:[*+-]|\\d{1,9}[.)])((?:[ 	][^\\n]*)?(?:\\n|$))`),R=new RegExp(`^ {0,${Math.min(3,a-1)}}((?:- *){3,}|(?:_ *){3,}|(?:\\* *){3,})(?:\\n+|$)`),T=new RegExp(`^ {0,${Math.min(3,a-1)}}(?:\`\`\`|~~~)`),O=new RegExp(`^ {0,${Math.min(3,a-1)}}#`);for(;t&&(g=t.split(`
`,1)[0],d=g,this.options.pedantic&&(d=d.replace(/^ {1,4}(?=( {4})*[^ ])/g,"  ")),!T.test(d))&&!O.test(d)&&!M.test(d)&&!R.test(t);){if(d.search(/[^ ]/)>=a||!d.trim())y+=`
`+d.slice(a);else{if(r||u.search(/[^ ]/)>=4||T.test(u)||O.test(u)||R.test(u))break;y+=`
`+d}r||d.trim()||(r=!0),n+=g+`
`,t=t.substring(g.length+1),u=d.slice(a)}}S.loose||(p?S.loose=!0:/\n *\n *$/.test(n)&&(p=!0)),this.options.gfm&&(i=/^\[[ xX]\] /.exec(y),i&&(s=i[0]!=="[ ] ",y=y.replace(/^\[[ xX]\] +/,""))),S.items.push({type:"list_item",raw:n,task:!!i,checked:s,loose:!1,text:y}),S.raw+=n}S.items[S.items.length-1].raw=n.trimRight(),S.items[S.items.length-1].text=y.trimRight(),S.raw=S.raw.trimRight();let Z=S.items.length;for(o=0;o<Z;o++)if(this.lexer.state.top=!1,S.items[o].tokens=this.lexer.blockTokens(S.items[o].text,[]),!S.loose){let M=S.items[o].tokens.filter((T=>T.type==="space")),R=M.length>0&&M.some((T=>/\n.*\n/.test(T.raw)));S.loose=R}if(S.loose)for(o=0;o<Z;o++)S.items[o].loose=!0;return S}}html(t){let e=this.rules.block.html.exec(t);if(e){let n={type:"html",raw:e[0],pre:!this.options.sanitizer&&(e[1]==="pre"||e[1]==="script"||e[1]==="style"),text:e[0]};if(this.options.sanitize){let i=this.options.sanitizer?this.options.sanitizer(e[0]):j(e[0]);n.type="paragraph",n.text=i,n.tokens=this.lexer.inline(i)}return n}}def(t){let e=this.rules.block.def.exec(t);if(e){let n=e[1].toLowerCase().replace(/\s+/g," "),i=e[2]?e[2].replace(/^<(.*)>$/,"$1").replace(this.rules.inline._escapes,"$1"):"",s=e[3]?e[3].substring(1,e[3].length-1).replace(this.rules.inline._escapes,"$1"):e[3];return{type:"def",tag:n,raw:e[0],href:i,title:s}}}table(t){let e=this.rules.block.table.exec(t);if(e){let n={type:"table",header:En(e[1]).map((i=>({text:i}))),align:e[2].replace(/^ *|\| *$/g,"").split(/ *\| */),rows:e[3]&&e[3].trim()?e[3].replace(/\n[ \t]*$/,"").split(`
`):[]};if(n.header.length===n.align.length){n.raw=e[0];let i,s,a,o,r=n.align.length;for(i=0;i<r;i++)/^ *-+: *$/.test(n.align[i])?n.align[i]="right":/^ *:-+: *$/.test(n.align[i])?n.align[i]="center":/^ *:-+ *$/.test(n.align[i])?n.align[i]="left":n.align[i]=null;for(r=n.rows.length,i=0;i<r;i++)n.rows[i]=En(n.rows[i],n.header.length).map((p=>({text:p})));for(r=n.header.length,s=0;s<r;s++)n.header[s].tokens=this.lexer.inline(n.header[s].text);for(r=n.rows.length,s=0;s<r;s++)for(o=n.rows[s],a=0;a<o.length;a++)o[a].tokens=this.lexer.inline(o[a].text);return n}}}lheading(t){let e=this.rules.block.lheading.exec(t);if(e)return{type:"heading",raw:e[0],depth:e[2].charAt(0)==="="?1:2,text:e[1],tokens:this.lexer.inline(e[1])}}paragraph(t){let e=this.rules.block.paragraph.exec(t);if(e){let n=e[1].charAt(e[1].length-1)===`
`?e[1].slice(0,-1):e[1];return{type:"paragraph",raw:e[0],text:n,tokens:this.lexer.inline(n)}}}text(t){let e=this.rules.block.text.exec(t);if(e)return{type:"text",raw:e[0],text:e[0],tokens:this.lexer.inline(e[0])}}escape(t){let e=this.rules.inline.escape.exec(t);if(e)return{type:"escape",raw:e[0],text:j(e[1])}}tag(t){let e=this.rules.inline.tag.exec(t);if(e)return!this.lexer.state.inLink&&/^<a /i.test(e[0])?this.lexer.state.inLink=!0:this.lexer.state.inLink&&/^<\/a>/i.test(e[0])&&(this.lexer.state.inLink=!1),!this.lexer.state.inRawBlock&&/^<(pre|code|kbd|script)(\s|>)/i.test(e[0])?this.lexer.state.inRawBlock=!0:this.lexer.state.inRawBlock&&/^<\/(pre|code|kbd|script)(\s|>)/i.test(e[0])&&(this.lexer.state.inRawBlock=!1),{type:this.options.sanitize?"text":"html",raw:e[0],inLink:this.lexer.state.inLink,inRawBlock:this.lexer.state.inRawBlock,text:this.options.sanitize?this.options.sanitizer?this.options.sanitizer(e[0]):j(e[0]):e[0]}}link(t){let e=this.rules.inline.link.exec(t);if(e){let n=e[2].trim();if(!this.options.pedantic&&/^</.test(n)){if(!/>$/.test(n))return;let a=$t(n.slice(0,-1),"\\");if((n.length-a.length)%2==0)return}else{let a=(function(o,r){if(o.indexOf(r[1])===-1)return-1;let p=o.length,u=0,d=0;for(;d<p;d++)if(o[d]==="\\")d++;else if(o[d]===r[0])u++;else if(o[d]===r[1]&&(u--,u<0))return d;return-1})(e[2],"()");if(a>-1){let o=(e[0].indexOf("!")===0?5:4)+e[1].length+a;e[2]=e[2].substring(0,a),e[0]=e[0].substring(0,o).trim(),e[3]=""}}let i=e[2],s="";if(this.options.pedantic){let a=/^([^'"]*[^\s])\s+(['"])(.*)\2/.exec(i);a&&(i=a[1],s=a[3])}else s=e[3]?e[3].slice(1,-1):"";return i=i.trim(),/^</.test(i)&&(i=this.options.pedantic&&!/>$/.test(n)?i.slice(1):i.slice(1,-1)),An(e,{href:i&&i.replace(this.rules.inline._escapes,"$1"),title:s&&s.replace(this.rules.inline._escapes,"$1")},e[0],this.lexer)}}reflink(t,e){let n;if((n=this.rules.inline.reflink.exec(t))||(n=this.rules.inline.nolink.exec(t))){let i=(n[2]||n[1]).replace(/\s+/g," ");if(i=e[i.toLowerCase()],!i){let s=n[0].charAt(0);return{type:"text",raw:s,text:s}}return An(n,i,n[0],this.lexer)}}emStrong(t,e,n=""){let i=this.rules.inline.emStrong.lDelim.exec(t);if(!i||i[3]&&n.match(/[\p{L}\p{N}]/u))return;let s=i[1]||i[2]||"";if(!s||s&&(n===""||this.rules.inline.punctuation.exec(n))){let a=i[0].length-1,o,r,p=a,u=0,d=i[0][0]==="*"?this.rules.inline.emStrong.rDelimAst:this.rules.inline.emStrong.rDelimUnd;for(d.lastIndex=0,e=e.slice(-1*t.length+a);(i=d.exec(e))!=null;){if(o=i[1]||i[2]||i[3]||i[4]||i[5]||i[6],!o)continue;if(r=o.length,i[3]||i[4]){p+=r;continue}if((i[5]||i[6])&&a%3&&!((a+r)%3)){u+=r;continue}if(p-=r,p>0)continue;r=Math.min(r,r+p+u);let g=t.slice(0,a+i.index+(i[0].length-o.length)+r);if(Math.min(a,r)%2){let L=g.slice(1,-1);return{type:"em",raw:g,text:L,tokens:this.lexer.inlineTokens(L)}}let y=g.slice(2,-2);return{type:"strong",raw:g,text:y,tokens:this.lexer.inlineTokens(y)}}}}codespan(t){let e=this.rules.inline.code.exec(t);if(e){let n=e[2].replace(/\n/g," "),i=/[^ ]/.test(n),s=/^ /.test(n)&&/ $/.test(n);return i&&s&&(n=n.substring(1,n.length-1)),n=j(n,!0),{type:"codespan",raw:e[0],text:n}}}br(t){let e=this.rules.inline.br.exec(t);if(e)return{type:"br",raw:e[0]}}del(t){let e=this.rules.inline.del.exec(t);if(e)return{type:"del",raw:e[0],text:e[2],tokens:this.lexer.inlineTokens(e[2])}}autolink(t,e){let n=this.rules.inline.autolink.exec(t);if(n){let i,s;return n[2]==="@"?(i=j(this.options.mangle?e(n[1]):n[1]),s="mailto:"+i):(i=j(n[1]),s=i),{type:"link",raw:n[0],text:i,href:s,tokens:[{type:"text",raw:i,text:i}]}}}url(t,e){let n;if(n=this.rules.inline.url.exec(t)){let i,s;if(n[2]==="@")i=j(this.options.mangle?e(n[0]):n[0]),s="mailto:"+i;else{let a;do a=n[0],n[0]=this.rules.inline._backpedal.exec(n[0])[0];while(a!==n[0]);i=j(n[0]),s=n[1]==="www."?"http://"+n[0]:n[0]}return{type:"link",raw:n[0],text:i,href:s,tokens:[{type:"text",raw:i,text:i}]}}}inlineText(t,e){let n=this.rules.inline.text.exec(t);if(n){let i;return i=this.lexer.state.inRawBlock?this.options.sanitize?this.options.sanitizer?this.options.sanitizer(n[0]):j(n[0]):n[0]:j(this.options.smartypants?e(n[0]):n[0]),{type:"text",raw:n[0],text:i}}}},A={newline:/^(?: *(?:\n|$))+/,code:/^( {4}[^\n]+(?:\n(?: *(?:\n|$))*)?)+/,fences:/^ {0,3}(`{3,}(?=[^`\n]*(?:\n|$))|~{3,})([^\n]*)(?:\n|$)(?:|([\s\S]*?)(?:\n|$))(?: {0,3}\1[~`]* *(?=\n|$)|$)/,hr:/^ {0,3}((?:-[\t ]*){3,}|(?:_[ \t]*){3,}|(?:\*[ \t]*){3,})(?:\n+|$)/,heading:/^ {0,3}(#{1,6})(?=\s|$)(.*)(?:\n+|$)/,blockquote:/^( {0,3}> ?(paragraph|[^\n]*)(?:\n|$))+/,list:/^( {0,3}bull)([ \t][^\n]+?)?(?:\n|$)/,html:"^ {0,3}(?:<(script|pre|style|textarea)[\\s>][\\s\\S]*?(?:</\\1>[^\\n]*\\n+|$)|comment[^\\n]*(\\n+|$)|<\\?[\\s\\S]*?(?:\\?>\\n*|$)|<![A-Z][\\s\\S]*?(?:>\\n*|$)|<!\\[CDATA\\[[\\s\\S]*?(?:\\]\\]>\\n*|$)|</?(tag)(?: +|\\n|/?>)[\\s\\S]*?(?:(?:\\n *)+\\n|$)|<(?!script|pre|style|textarea)([a-z][\\w-]*)(?:attribute)*? */?>(?=[ \\t]*(?:\\n|$))[\\s\\S]*?(?:(?:\\n *)+\\n|$)|</(?!script|pre|style|textarea)[a-z][\\w-]*\\s*>(?=[ \\t]*(?:\\n|$))[\\s\\S]*?(?:(?:\\n *)+\\n|$))",def:/^ {0,3}\[(label)\]: *(?:\n *)?([^<\s][^\s]*|<.*?>)(?:(?: +(?:\n *)?| *\n *)(title))? *(?:\n+|$)/,table:qt,lheading:/^((?:.|\n(?!\n))+?)\n {0,3}(=+|-+) *(?:\n+|$)/,_paragraph:/^([^\n]+(?:\n(?!hr|heading|lheading|blockquote|fences|list|html|table| +\n)[^\n]+)*)/,text:/^[^\n]+/,_label:/(?!\s*\])(?:\\.|[^\[\]\\])+/,_title:/(?:"(?:\\"?|[^"\\])*"|'[^'\n]*(?:\n[^'\n]+)*\n?'|\([^()]*\))/};A.def=H(A.def).replace("label",A._label).replace("title",A._title).getRegex(),A.bullet=/(?:[*+-]|\d{1,9}[.)])/,A.listItemStart=H(/^( *)(bull) */).replace("bull",A.bullet).getRegex(),A.list=H(A.list).replace(/bull/g,A.bullet).replace("hr","\\n+(?=\\1?(?:(?:- *){3,}|(?:_ *){3,}|(?:\\* *){3,})(?:\\n+|$))").replace("def","\\n+(?="+A.def.source+")").getRegex(),A._tag="address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|meta|nav|noframes|ol|optgroup|option|p|param|section|source|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul",A._comment=/<!--(?!-?>)[\s\S]*?(?:-->|$)/,A.html=H(A.html,"i").replace("comment",A._comment).replace("tag",A._tag).replace("attribute",/ +[a-zA-Z:_][\w.:-]*(?: *= *"[^"\n]*"| *= *'[^'\n]*'| *= *[^\s"'=<>`]+)?/).getRegex(),A.paragraph=H(A._paragraph).replace("hr",A.hr).replace("heading"," {0,3}#{1,6} ").replace("|lheading","").replace("|table","").replace("blockquote"," {0,3}>").replace("fences"," {0,3}(?:`{3,}(?=[^`\\n]*\\n)|~{3,})[^\\n]*\\n").replace("list"," {0,3}(?:[*+-]|1[.)]) ").replace("html","</?(?:tag)(?: +|\\n|/?>)|<(?:script|pre|style|textarea|!--)").replace("tag",A._tag).getRegex(),A.blockquote=H(A.blockquote).replace("paragraph",A.paragraph).getRegex(),A.normal={...A},A.gfm={...A.normal,table:"^ *([^\\n ].*\\|.*)\\n {0,3}(?:\\| *)?(:?-+:? *(?:\\| *:?-+:? *)*)(?:\\| *)?(?:\\n((?:(?! *\\n|hr|heading|blockquote|code|fences|list|html).*(?:\\n|$))*)\\n*|$)"},A.gfm.table=H(A.gfm.table).replace("hr",A.hr).replace("heading"," {0,3}#{1,6} ").replace("blockquote"," {0,3}>").replace("code"," {4}[^\\n]").replace("fences"," {0,3}(?:`{3,}(?=[^`\\n]*\\n)|~{3,})[^\\n]*\\n").replace("list"," {0,3}(?:[*+-]|1[.)]) ").replace("html","</?(?:tag)(?: +|\\n|/?>)|<(?:script|pre|style|textarea|!--)").replace("tag",A._tag).getRegex(),A.gfm.paragraph=H(A._paragraph).replace("hr",A.hr).replace("heading"," {0,3}#{1,6} ").replace("|lheading","").replace("table",A.gfm.table).replace("blockquote"," {0,3}>").replace("fences"," {0,3}(?:`{3,}(?=[^`\\n]*\\n)|~{3,})[^\\n]*\\n").replace("list"," {0,3}(?:[*+-]|1[.)]) ").replace("html","</?(?:tag)(?: +|\\n|/?>)|<(?:script|pre|style|textarea|!--)").replace("tag",A._tag).getRegex(),A.pedantic={...A.normal,html:H(`^ *(?:comment *(?:\\n|\\s*$)|<(tag)[\\s\\S]+?</\\1> *(?:\\n{2,}|\\s*$)|<tag(?:"[^"]*"|'[^']*'|\\s[^'"/>\\s]*)*?/?> *(?:\\n{2,}|\\s*$))`).replace("comment",A._comment).replace(/tag/g,"(?!(?:a|em|strong|small|s|cite|q|dfn|abbr|data|time|code|var|samp|kbd|sub|sup|i|b|u|mark|ruby|rt|rp|bdi|bdo|span|br|wbr|ins|del|img)\\b)\\w+(?!:|[^\\w\\s@]*@)\\b").getRegex(),def:/^ *\[([^\]]+)\]: *<?([^\s>]+)>?(?: +(["(][^\n]+[")]))? *(?:\n+|$)/,heading:/^(#{1,6})(.*)(?:\n+|$)/,fences:qt,lheading:/^(.+?)\n {0,3}(=+|-+) *(?:\n+|$)/,paragraph:H(A.normal._paragraph).replace("hr",A.hr).replace("heading",` *#{1,6} *[^
]`).replace("lheading",A.lheading).replace("blockquote"," {0,3}>").replace("|fences","").replace("|list","").replace("|html","").getRegex()};var k={escape:/^\\([!"#$%&'()*+,\-./:;<=>?@\[\]\\^_`{|}~])/,autolink:/^<(scheme:[^\s\x00-\x1f<>]*|email)>/,url:qt,tag:"^comment|^</[a-zA-Z][\\w:-]*\\s*>|^<[a-zA-Z][\\w-]*(?:attribute)*?\\s*/?>|^<\\?[\\s\\S]*?\\?>|^<![a-zA-Z]+\\s[\\s\\S]*?>|^<!\\[CDATA\\[[\\s\\S]*?\\]\\]>",link:/^!?\[(label)\]\(\s*(href)(?:\s+(title))?\s*\)/,reflink:/^!?\[(label)\]\[(ref)\]/,nolink:/^!?\[(ref)\](?:\[\])?/,reflinkSearch:"reflink|nolink(?!\\()",emStrong:{lDelim:/^(?:\*+(?:([punct_])|[^\s*]))|^_+(?:([punct*])|([^\s_]))/,rDelimAst:/^(?:[^_*\\]|\\.)*?\_\_(?:[^_*\\]|\\.)*?\*(?:[^_*\\]|\\.)*?(?=\_\_)|(?:[^*\\]|\\.)+(?=[^*])|[punct_](\*+)(?=[\s]|$)|(?:[^punct*_\s\\]|\\.)(\*+)(?=[punct_\s]|$)|[punct_\s](\*+)(?=[^punct*_\s])|[\s](\*+)(?=[punct_])|[punct_](\*+)(?=[punct_])|(?:[^punct*_\s\\]|\\.)(\*+)(?=[^punct*_\s])/,rDelimUnd:/^(?:[^_*\\]|\\.)*?\*\*(?:[^_*\\]|\\.)*?\_(?:[^_*\\]|\\.)*?(?=\*\*)|(?:[^_\\]|\\.)+(?=[^_])|[punct*](\_+)(?=[\s]|$)|(?:[^punct*_\s\\]|\\.)(\_+)(?=[punct*\s]|$)|[punct*\s](\_+)(?=[^punct*_\s])|[\s](\_+)(?=[punct*])|[punct*](\_+)(?=[punct*])/},code:/^(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)/,br:/^( {2,}|\\)\n(?!\s*$)/,del:qt,text:/^(`+|[^`])(?:(?= {2,}\n)|[\s\S]*?(?:(?=[\\<!\[`*_]|\b_|$)|[^ ](?= {2,}\n)))/,punctuation:/^([\spunctuation])/};function Jn(l){return l.replace(/---/g,"—").replace(/--/g,"–").replace(/(^|[-\u2014/(\[{"\s])'/g,"$1‘").replace(/'/g,"’").replace(/(^|[-\u2014/(\[{\u2018\s])"/g,"$1“").replace(/"/g,"”").replace(/\.{3}/g,"…")}function Rn(l){let t,e,n="",i=l.length;for(t=0;t<i;t++)e=l.charCodeAt(t),Math.random()>.5&&(e="x"+e.toString(16)),n+="&#"+e+";";return n}k._punctuation="!\"#$%&'()+\\-.,/:;<=>?@\\[\\]`^{|}~",k.punctuation=H(k.punctuation).replace(/punctuation/g,k._punctuation).getRegex(),k.blockSkip=/\[[^\]]*?\]\([^\)]*?\)|`[^`]*?`|<[^>]*?>/g,k.escapedEmSt=/(?:^|[^\\])(?:\\\\)*\\[*_]/g,k._comment=H(A._comment).replace("(?:-->|$)","-->").getRegex(),k.emStrong.lDelim=H(k.emStrong.lDelim).replace(/punct/g,k._punctuation).getRegex(),k.emStrong.rDelimAst=H(k.emStrong.rDelimAst,"g").replace(/punct/g,k._punctuation).getRegex(),k.emStrong.rDelimUnd=H(k.emStrong.rDelimUnd,"g").replace(/punct/g,k._punctuation).getRegex(),k._escapes=/\\([!"#$%&'()*+,\-./:;<=>?@\[\]\\^_`{|}~])/g,k._scheme=/[a-zA-Z][a-zA-Z0-9+.-]{1,31}/,k._email=/[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+(@)[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)+(?![-_])/,k.autolink=H(k.autolink).replace("scheme",k._scheme).replace("email",k._email).getRegex(),k._attribute=/\s+[a-zA-Z:_][\w.:-]*(?:\s*=\s*"[^"]*"|\s*=\s*'[^']*'|\s*=\s*[^\s"'=<>`]+)?/,k.tag=H(k.tag).replace("comment",k._comment).replace("attribute",k._attribute).getRegex(),k._label=/(?:\[(?:\\.|[^\[\]\\])*\]|\\.|`[^`]*`|[^\[\]\\`])*?/,k._href=/<(?:\\.|[^\n<>\\])+>|[^\s\x00-\x1f]*/,k._title=/"(?:\\"?|[^"\\])*"|'(?:\\'?|[^'\\])*'|\((?:\\\)?|[^)\\])*\)/,k.link=H(k.link).replace("label",k._label).replace("href",k._href).replace("title",k._title).getRegex(),k.reflink=H(k.reflink).replace("label",k._label).replace("ref",A._label).getRegex(),k.nolink=H(k.nolink).replace("ref",A._label).getRegex(),k.reflinkSearch=H(k.reflinkSearch,"g").replace("reflink",k.reflink).replace("nolink",k.nolink).getRegex(),k.normal={...k},k.pedantic={...k.normal,strong:{start:/^__|\*\*/,middle:/^__(?=\S)([\s\S]*?\S)__(?!_)|^\*\*(?=\S)([\s\S]*?\S)\*\*(?!\*)/,endAst:/\*\*(?!\*)/g,endUnd:/__(?!_)/g},em:{start:/^_|\*/,middle:/^()\*(?=\S)([\s\S]*?\S)\*(?!\*)|^_(?=\S)([\s\S]*?\S)_(?!_)/,endAst:/\*(?!\*)/g,endUnd:/_(?!_)/g},link:H(/^!?\[(label)\]\((.*?)\)/).replace("label",k._label).getRegex(),reflink:H(/^!?\[(label)\]\s*\[([^\]]*)\]/).replace("label",k._label).getRegex()},k.gfm={...k.normal,escape:H(k.escape).replace("])","~|])").getRegex(),_extended_email:/[A-Za-z0-9._+-]+(@)[a-zA-Z0-9-_]+(?:\.[a-zA-Z0-9-_]*[a-zA-Z0-9])+(?![-_])/,url:/^((?:ftp|https?):\/\/|www\.)(?:[a-zA-Z0-9\-]+\.?)+[^\s<]*|^email/,_backpedal:/(?:[^?!.,:;*_'"~()&]+|\([^)]*\)|&(?![a-zA-Z0-9]+;$)|[?!.,:;*_'"~)]+(?!$))+/,del:/^(~~?)(?=[^\s~])([\s\S]*?[^\s~])\1(?=[^~]|$)/,text:/^([`~]+|[^`~])(?:(?= {2,}\n)|(?=[a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-]+@)|[\s\S]*?(?:(?=[\\<!\[`*~_]|\b_|https?:\/\/|ftp:\/\/|www\.|$)|[^ ](?= {2,}\n)|[^a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-](?=[a-zA-Z0-9.!#$%&'*+\/=?_`{\|}~-]+@)))/},k.gfm.url=H(k.gfm.url,"i").replace("email",k.gfm._extended_email).getRegex(),k.breaks={...k.gfm,br:H(k.br).replace("{2,}","*").getRegex(),text:H(k.gfm.text).replace("\\b_","\\b_| {2,}\\n").replace(/\{2,\}/g,"*").getRegex()};var pt=class l{constructor(t){this.tokens=[],this.tokens.links=Object.create(null),this.options=t||mt,this.options.tokenizer=this.options.tokenizer||new At,this.tokenizer=this.options.tokenizer,this.tokenizer.options=this.options,this.tokenizer.lexer=this,this.inlineQueue=[],this.state={inLink:!1,inRawBlock:!1,top:!0};let e={block:A.normal,inline:k.normal};this.options.pedantic?(e.block=A.pedantic,e.inline=k.pedantic):this.options.gfm&&(e.block=A.gfm,this.options.breaks?e.inline=k.breaks:e.inline=k.gfm),this.tokenizer.rules=e}static get rules(){return{block:A,inline:k}}static lex(t,e){return new l(e).lex(t)}static lexInline(t,e){return new l(e).inlineTokens(t)}lex(t){let e;for(t=t.replace(/\r\n|\r/g,`
`),this.blockTokens(t,this.tokens);e=this.inlineQueue.shift();)this.inlineTokens(e.src,e.tokens);return this.tokens}blockTokens(t,e=[]){let n,i,s,a;for(t=this.options.pedantic?t.replace(/\t/g,"    ").replace(/^ +$/gm,""):t.replace(/^( *)(\t+)/gm,((o,r,p)=>r+"    ".repeat(p.length)));t;)if(!(this.options.extensions&&this.options.extensions.block&&this.options.extensions.block.some((o=>!!(n=o.call({lexer:this},t,e))&&(t=t.substring(n.raw.length),e.push(n),!0)))))if(n=this.tokenizer.space(t))t=t.substring(n.raw.length),n.raw.length===1&&e.length>0?e[e.length-1].raw+=`
`:e.push(n);else if(n=this.tokenizer.code(t))t=t.substring(n.raw.length),i=e[e.length-1],!i||i.type!=="paragraph"&&i.type!=="text"?e.push(n):(i.raw+=`
`+n.raw,i.text+=`
`+n.text,this.inlineQueue[this.inlineQueue.length-1].src=i.text);else if(n=this.tokenizer.fences(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.heading(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.hr(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.blockquote(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.list(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.html(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.def(t))t=t.substring(n.raw.length),i=e[e.length-1],!i||i.type!=="paragraph"&&i.type!=="text"?this.tokens.links[n.tag]||(this.tokens.links[n.tag]={href:n.href,title:n.title}):(i.raw+=`
`+n.raw,i.text+=`
`+n.raw,this.inlineQueue[this.inlineQueue.length-1].src=i.text);else if(n=this.tokenizer.table(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.lheading(t))t=t.substring(n.raw.length),e.push(n);else{if(s=t,this.options.extensions&&this.options.extensions.startBlock){let o=1/0,r=t.slice(1),p;this.options.extensions.startBlock.forEach((function(u){p=u.call({lexer:this},r),typeof p=="number"&&p>=0&&(o=Math.min(o,p))})),o<1/0&&o>=0&&(s=t.substring(0,o+1))}if(this.state.top&&(n=this.tokenizer.paragraph(s)))i=e[e.length-1],a&&i.type==="paragraph"?(i.raw+=`
`+n.raw,i.text+=`
`+n.text,this.inlineQueue.pop(),this.inlineQueue[this.inlineQueue.length-1].src=i.text):e.push(n),a=s.length!==t.length,t=t.substring(n.raw.length);else if(n=this.tokenizer.text(t))t=t.substring(n.raw.length),i=e[e.length-1],i&&i.type==="text"?(i.raw+=`
`+n.raw,i.text+=`
`+n.text,this.inlineQueue.pop(),this.inlineQueue[this.inlineQueue.length-1].src=i.text):e.push(n);else if(t){let o="Infinite loop on byte: "+t.charCodeAt(0);if(this.options.silent){console.error(o);break}throw new Error(o)}}return this.state.top=!0,e}inline(t,e=[]){return this.inlineQueue.push({src:t,tokens:e}),e}inlineTokens(t,e=[]){let n,i,s,a,o,r,p=t;if(this.tokens.links){let u=Object.keys(this.tokens.links);if(u.length>0)for(;(a=this.tokenizer.rules.inline.reflinkSearch.exec(p))!=null;)u.includes(a[0].slice(a[0].lastIndexOf("[")+1,-1))&&(p=p.slice(0,a.index)+"["+xn("a",a[0].length-2)+"]"+p.slice(this.tokenizer.rules.inline.reflinkSearch.lastIndex))}for(;(a=this.tokenizer.rules.inline.blockSkip.exec(p))!=null;)p=p.slice(0,a.index)+"["+xn("a",a[0].length-2)+"]"+p.slice(this.tokenizer.rules.inline.blockSkip.lastIndex);for(;(a=this.tokenizer.rules.inline.escapedEmSt.exec(p))!=null;)p=p.slice(0,a.index+a[0].length-2)+"++"+p.slice(this.tokenizer.rules.inline.escapedEmSt.lastIndex),this.tokenizer.rules.inline.escapedEmSt.lastIndex--;for(;t;)if(o||(r=""),o=!1,!(this.options.extensions&&this.options.extensions.inline&&this.options.extensions.inline.some((u=>!!(n=u.call({lexer:this},t,e))&&(t=t.substring(n.raw.length),e.push(n),!0)))))if(n=this.tokenizer.escape(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.tag(t))t=t.substring(n.raw.length),i=e[e.length-1],i&&n.type==="text"&&i.type==="text"?(i.raw+=n.raw,i.text+=n.text):e.push(n);else if(n=this.tokenizer.link(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.reflink(t,this.tokens.links))t=t.substring(n.raw.length),i=e[e.length-1],i&&n.type==="text"&&i.type==="text"?(i.raw+=n.raw,i.text+=n.text):e.push(n);else if(n=this.tokenizer.emStrong(t,p,r))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.codespan(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.br(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.del(t))t=t.substring(n.raw.length),e.push(n);else if(n=this.tokenizer.autolink(t,Rn))t=t.substring(n.raw.length),e.push(n);else if(this.state.inLink||!(n=this.tokenizer.url(t,Rn))){if(s=t,this.options.extensions&&this.options.extensions.startInline){let u=1/0,d=t.slice(1),g;this.options.extensions.startInline.forEach((function(y){g=y.call({lexer:this},d),typeof g=="number"&&g>=0&&(u=Math.min(u,g))})),u<1/0&&u>=0&&(s=t.substring(0,u+1))}if(n=this.tokenizer.inlineText(s,Jn))t=t.substring(n.raw.length),n.raw.slice(-1)!=="_"&&(r=n.raw.slice(-1)),o=!0,i=e[e.length-1],i&&i.type==="text"?(i.raw+=n.raw,i.text+=n.text):e.push(n);else if(t){let u="Infinite loop on byte: "+t.charCodeAt(0);if(this.options.silent){console.error(u);break}throw new Error(u)}}else t=t.substring(n.raw.length),e.push(n);return e}},Rt=class{constructor(t){this.options=t||mt}code(t,e,n){let i=(e||"").match(/\S*/)[0];if(this.options.highlight){let s=this.options.highlight(t,i);s!=null&&s!==t&&(n=!0,t=s)}return t=t.replace(/\n$/,"")+`
`,i?'<pre><code class="'+this.options.langPrefix+j(i)+'">'+(n?t:j(t,!0))+`</code></pre>
`:"<pre><code>"+(n?t:j(t,!0))+`</code></pre>
`}blockquote(t){return`<blockquote>
${t}</blockquote>
`}html(t){return t}heading(t,e,n,i){return this.options.headerIds?`<h${e} id="${this.options.headerPrefix+i.slug(n)}">${t}</h${e}>
`:`<h${e}>${t}</h${e}>
`}hr(){return this.options.xhtml?`<hr/>
`:`<hr>
`}list(t,e,n){let i=e?"ol":"ul";return"<"+i+(e&&n!==1?' start="'+n+'"':"")+`>
`+t+"</"+i+`>
`}listitem(t){return`<li>${t}</li>
`}checkbox(t){return"<input "+(t?'checked="" ':"")+'disabled="" type="checkbox"'+(this.options.xhtml?" /":"")+"> "}paragraph(t){return`<p>${t}</p>
`}table(t,e){return e&&(e=`<tbody>${e}</tbody>`),`<table>
<thead>
`+t+`</thead>
`+e+`</table>
`}tablerow(t){return`<tr>
${t}</tr>
`}tablecell(t,e){let n=e.header?"th":"td";return(e.align?`<${n} align="${e.align}">`:`<${n}>`)+t+`</${n}>
`}strong(t){return`<strong>${t}</strong>`}em(t){return`<em>${t}</em>`}codespan(t){return`<code>${t}</code>`}br(){return this.options.xhtml?"<br/>":"<br>"}del(t){return`<del>${t}</del>`}link(t,e,n){if((t=Sn(this.options.sanitize,this.options.baseUrl,t))===null)return n;let i='<a href="'+t+'"';return e&&(i+=' title="'+e+'"'),i+=">"+n+"</a>",i}image(t,e,n){if((t=Sn(this.options.sanitize,this.options.baseUrl,t))===null)return n;let i=`<img src="${t}" alt="${n}"`;return e&&(i+=` title="${e}"`),i+=this.options.xhtml?"/>":">",i}text(t){return t}},Ot=class{strong(t){return t}em(t){return t}codespan(t){return t}del(t){return t}html(t){return t}text(t){return t}link(t,e,n){return""+n}image(t,e,n){return""+n}br(){return""}},Ft=class{constructor(){this.seen={}}serialize(t){return t.toLowerCase().trim().replace(/<[!\/a-z].*?>/gi,"").replace(/[\u2000-\u206F\u2E00-\u2E7F\\'!"#$%&()*+,./:;<=>?@[\]^`{|}~]/g,"").replace(/\s/g,"-")}getNextSafeSlug(t,e){let n=t,i=0;if(this.seen.hasOwnProperty(n)){i=this.seen[t];do i++,n=t+"-"+i;while(this.seen.hasOwnProperty(n))}return e||(this.seen[t]=i,this.seen[n]=0),n}slug(t,e={}){let n=this.serialize(t);return this.getNextSafeSlug(n,e.dryrun)}},gt=class l{constructor(t){this.options=t||mt,this.options.renderer=this.options.renderer||new Rt,this.renderer=this.options.renderer,this.renderer.options=this.options,this.textRenderer=new Ot,this.slugger=new Ft}static parse(t,e){return new l(e).parse(t)}static parseInline(t,e){return new l(e).parseInline(t)}parse(t,e=!0){let n,i,s,a,o,r,p,u,d,g,y,L,h,$,S,q,Z,M,R,T="",O=t.length;for(n=0;n<O;n++)if(g=t[n],this.options.extensions&&this.options.extensions.renderers&&this.options.extensions.renderers[g.type]&&(R=this.options.extensions.renderers[g.type].call({parser:this},g),R!==!1||!["space","hr","heading","code","table","blockquote","list","html","paragraph","text"].includes(g.type)))T+=R||"";else switch(g.type){case"space":continue;case"hr":T+=this.renderer.hr();continue;case"heading":T+=this.renderer.heading(this.parseInline(g.tokens),g.depth,Cn(this.parseInline(g.tokens,this.textRenderer)),this.slugger);continue;case"code":T+=this.renderer.code(g.text,g.lang,g.escaped);continue;case"table":for(u="",p="",a=g.header.length,i=0;i<a;i++)p+=this.renderer.tablecell(this.parseInline(g.header[i].tokens),{header:!0,align:g.align[i]});for(u+=this.renderer.tablerow(p),d="",a=g.rows.length,i=0;i<a;i++){for(r=g.rows[i],p="",o=r.length,s=0;s<o;s++)p+=this.renderer.tablecell(this.parseInline(r[s].tokens),{header:!1,align:g.align[s]});d+=this.renderer.tablerow(p)}T+=this.renderer.table(u,d);continue;case"blockquote":d=this.parse(g.tokens),T+=this.renderer.blockquote(d);continue;case"list":for(y=g.ordered,L=g.start,h=g.loose,a=g.items.length,d="",i=0;i<a;i++)S=g.items[i],q=S.checked,Z=S.task,$="",S.task&&(M=this.renderer.checkbox(q),h?S.tokens.length>0&&S.tokens[0].type==="paragraph"?(S.tokens[0].text=M+" "+S.tokens[0].text,S.tokens[0].tokens&&S.tokens[0].tokens.length>0&&S.tokens[0].tokens[0].type==="text"&&(S.tokens[0].tokens[0].text=M+" "+S.tokens[0].tokens[0].text)):S.tokens.unshift({type:"text",text:M}):$+=M),$+=this.parse(S.tokens,h),d+=this.renderer.listitem($,Z,q);T+=this.renderer.list(d,y,L);continue;case"html":T+=this.renderer.html(g.text);continue;case"paragraph":T+=this.renderer.paragraph(this.parseInline(g.tokens));continue;case"text":for(d=g.tokens?this.parseInline(g.tokens):g.text;n+1<O&&t[n+1].type==="text";)g=t[++n],d+=`
`+(g.tokens?this.parseInline(g.tokens):g.text);T+=e?this.renderer.paragraph(d):d;continue;default:{let U='Token with "'+g.type+'" type was not found.';if(this.options.silent)return void console.error(U);throw new Error(U)}}return T}parseInline(t,e){e=e||this.renderer;let n,i,s,a="",o=t.length;for(n=0;n<o;n++)if(i=t[n],this.options.extensions&&this.options.extensions.renderers&&this.options.extensions.renderers[i.type]&&(s=this.options.extensions.renderers[i.type].call({parser:this},i),s!==!1||!["escape","html","link","image","strong","em","codespan","br","del","text"].includes(i.type)))a+=s||"";else switch(i.type){case"escape":case"text":a+=e.text(i.text);break;case"html":a+=e.html(i.text);break;case"link":a+=e.link(i.href,i.title,this.parseInline(i.tokens,e));break;case"image":a+=e.image(i.href,i.title,i.text);break;case"strong":a+=e.strong(this.parseInline(i.tokens,e));break;case"em":a+=e.em(this.parseInline(i.tokens,e));break;case"codespan":a+=e.codespan(i.text);break;case"br":a+=e.br();break;case"del":a+=e.del(this.parseInline(i.tokens,e));break;default:{let r='Token with "'+i.type+'" type was not found.';if(this.options.silent)return void console.error(r);throw new Error(r)}}return a}},xt=class{constructor(t){this.options=t||mt}static passThroughHooks=new Set(["preprocess","postprocess"]);preprocess(t){return t}postprocess(t){return t}};function Pn(l,t){return(e,n,i)=>{typeof n=="function"&&(i=n,n=null);let s={...n},a=(function(o,r,p){return u=>{if(u.message+=`
Please report this to https://github.com/markedjs/marked.`,o){let d="<p>An error occurred:</p><pre>"+j(u.message+"",!0)+"</pre>";return r?Promise.resolve(d):p?void p(null,d):d}if(r)return Promise.reject(u);if(!p)throw u;p(u)}})((n={...x.defaults,...s}).silent,n.async,i);if(e==null)return a(new Error("marked(): input parameter is undefined or null"));if(typeof e!="string")return a(new Error("marked(): input parameter is of type "+Object.prototype.toString.call(e)+", string expected"));if((function(o){o&&o.sanitize&&!o.silent&&console.warn("marked(): sanitize and sanitizer parameters are deprecated since version 0.7.0, should not be used and will be removed in the future. Read more here: https://marked.js.org/#/USING_ADVANCED.md#options")})(n),n.hooks&&(n.hooks.options=n),i){let o=n.highlight,r;try{n.hooks&&(e=n.hooks.preprocess(e)),r=l(e,n)}catch(d){return a(d)}let p=function(d){let g;if(!d)try{n.walkTokens&&x.walkTokens(r,n.walkTokens),g=t(r,n),n.hooks&&(g=n.hooks.postprocess(g))}catch(y){d=y}return n.highlight=o,d?a(d):i(null,g)};if(!o||o.length<3||(delete n.highlight,!r.length))return p();let u=0;return x.walkTokens(r,(function(d){d.type==="code"&&(u++,setTimeout((()=>{o(d.text,d.lang,(function(g,y){if(g)return p(g);y!=null&&y!==d.text&&(d.text=y,d.escaped=!0),u--,u===0&&p()}))}),0))})),void(u===0&&p())}if(n.async)return Promise.resolve(n.hooks?n.hooks.preprocess(e):e).then((o=>l(o,n))).then((o=>n.walkTokens?Promise.all(x.walkTokens(o,n.walkTokens)).then((()=>o)):o)).then((o=>t(o,n))).then((o=>n.hooks?n.hooks.postprocess(o):o)).catch(a);try{n.hooks&&(e=n.hooks.preprocess(e));let o=l(e,n);n.walkTokens&&x.walkTokens(o,n.walkTokens);let r=t(o,n);return n.hooks&&(r=n.hooks.postprocess(r)),r}catch(o){return a(o)}}}function x(l,t,e){return Pn(pt.lex,gt.parse)(l,t,e)}x.options=x.setOptions=function(l){var t;return x.defaults={...x.defaults,...l},t=x.defaults,mt=t,x},x.getDefaults=qn,x.defaults=mt,x.use=function(...l){let t=x.defaults.extensions||{renderers:{},childTokens:{}};l.forEach((e=>{let n={...e};if(n.async=x.defaults.async||n.async||!1,e.extensions&&(e.extensions.forEach((i=>{if(!i.name)throw new Error("extension name required");if(i.renderer){let s=t.renderers[i.name];t.renderers[i.name]=s?function(...a){let o=i.renderer.apply(this,a);return o===!1&&(o=s.apply(this,a)),o}:i.renderer}if(i.tokenizer){if(!i.level||i.level!=="block"&&i.level!=="inline")throw new Error("extension level must be 'block' or 'inline'");t[i.level]?t[i.level].unshift(i.tokenizer):t[i.level]=[i.tokenizer],i.start&&(i.level==="block"?t.startBlock?t.startBlock.push(i.start):t.startBlock=[i.start]:i.level==="inline"&&(t.startInline?t.startInline.push(i.start):t.startInline=[i.start]))}i.childTokens&&(t.childTokens[i.name]=i.childTokens)})),n.extensions=t),e.renderer){let i=x.defaults.renderer||new Rt;for(let s in e.renderer){let a=i[s];i[s]=(...o)=>{let r=e.renderer[s].apply(i,o);return r===!1&&(r=a.apply(i,o)),r}}n.renderer=i}if(e.tokenizer){let i=x.defaults.tokenizer||new At;for(let s in e.tokenizer){let a=i[s];i[s]=(...o)=>{let r=e.tokenizer[s].apply(i,o);return r===!1&&(r=a.apply(i,o)),r}}n.tokenizer=i}if(e.hooks){let i=x.defaults.hooks||new xt;for(let s in e.hooks){let a=i[s];xt.passThroughHooks.has(s)?i[s]=o=>{if(x.defaults.async)return Promise.resolve(e.hooks[s].call(i,o)).then((p=>a.call(i,p)));let r=e.hooks[s].call(i,o);return a.call(i,r)}:i[s]=(...o)=>{let r=e.hooks[s].apply(i,o);return r===!1&&(r=a.apply(i,o)),r}}n.hooks=i}if(e.walkTokens){let i=x.defaults.walkTokens;n.walkTokens=function(s){let a=[];return a.push(e.walkTokens.call(this,s)),i&&(a=a.concat(i.call(this,s))),a}}x.setOptions(n)}))},x.walkTokens=function(l,t){let e=[];for(let n of l)switch(e=e.concat(t.call(x,n)),n.type){case"table":for(let i of n.header)e=e.concat(x.walkTokens(i.tokens,t));for(let i of n.rows)for(let s of i)e=e.concat(x.walkTokens(s.tokens,t));break;case"list":e=e.concat(x.walkTokens(n.items,t));break;default:x.defaults.extensions&&x.defaults.extensions.childTokens&&x.defaults.extensions.childTokens[n.type]?x.defaults.extensions.childTokens[n.type].forEach((function(i){e=e.concat(x.walkTokens(n[i],t))})):n.tokens&&(e=e.concat(x.walkTokens(n.tokens,t)))}return e},x.parseInline=Pn(pt.lexInline,gt.parseInline),x.Parser=gt,x.parser=gt.parse,x.Renderer=Rt,x.TextRenderer=Ot,x.Lexer=pt,x.lexer=pt.lex,x.Tokenizer=At,x.Slugger=Ft,x.Hooks=xt,x.parse=x,x.options,x.setOptions,x.use,x.walkTokens,x.parseInline,gt.parse,pt.lex;var In=()=>{let l,t,e=null;function n(){if(e&&!e.closed)e.focus();else{if(e=window.open("about:blank","reveal.js - Notes","width=1100,height=700"),e.marked=x,e.document.write(`<!--
	NOTE: You need to build the notes plugin after making changes to this file.
-->
<html lang="en">
	<head>
		<meta charset="utf-8">

		<title>reveal.js - Speaker View</title>

		<style>
			body {
				font-family: Helvetica;
				font-size: 18px;
			}

			#current-slide,
			#upcoming-slide,
			#speaker-controls {
				padding: 6px;
				box-sizing: border-box;
				-moz-box-sizing: border-box;
			}

			#current-slide iframe,
			#upcoming-slide iframe {
				width: 100%;
				height: 100%;
				border: 1px solid #ddd;
			}

			#current-slide .label,
			#upcoming-slide .label {
				position: absolute;
				top: 10px;
				left: 10px;
				z-index: 2;
			}

			#connection-status {
				position: absolute;
				top: 0;
				left: 0;
				width: 100%;
				height: 100%;
				z-index: 20;
				padding: 30% 20% 20% 20%;
				font-size: 18px;
				color: #222;
				background: #fff;
				text-align: center;
				box-sizing: border-box;
				line-height: 1.4;
			}

			.overlay-element {
				height: 34px;
				line-height: 34px;
				padding: 0 10px;
				text-shadow: none;
				background: rgba( 220, 220, 220, 0.8 );
				color: #222;
				font-size: 14px;
			}

			.overlay-element.interactive:hover {
				background: rgba( 220, 220, 220, 1 );
			}

			#current-slide {
				position: absolute;
				width: 60%;
				height: 100%;
				top: 0;
				left: 0;
				padding-right: 0;
			}

			#upcoming-slide {
				position: absolute;
				width: 40%;
				height: 40%;
				right: 0;
				top: 0;
			}

			/* Speaker controls */
			#speaker-controls {
				position: absolute;
				top: 40%;
				right: 0;
				width: 40%;
				height: 60%;
				overflow: auto;
				font-size: 18px;
			}

				.speaker-controls-time.hidden,
				.speaker-controls-notes.hidden {
					display: none;
				}

				.speaker-controls-time .label,
				.speaker-controls-pace .label,
				.speaker-controls-notes .label {
					text-transform: uppercase;
					font-weight: normal;
					font-size: 0.66em;
					color: #666;
					margin: 0;
				}

				.speaker-controls-time, .speaker-controls-pace {
					border-bottom: 1px solid rgba( 200, 200, 200, 0.5 );
					margin-bottom: 10px;
					padding: 10px 16px;
					padding-bottom: 20px;
					cursor: pointer;
				}

				.speaker-controls-time .reset-button {
					opacity: 0;
					float: right;
					color: #666;
					text-decoration: none;
				}
				.speaker-controls-time:hover .reset-button {
					opacity: 1;
				}

				.speaker-controls-time .timer,
				.speaker-controls-time .clock {
					width: 50%;
				}

				.speaker-controls-time .timer,
				.speaker-controls-time .clock,
				.speaker-controls-time .pacing .hours-value,
				.speaker-controls-time .pacing .minutes-value,
				.speaker-controls-time .pacing .seconds-value {
					font-size: 1.9em;
				}

				.speaker-controls-time .timer {
					float: left;
				}

				.speaker-controls-time .clock {
					float: right;
					text-align: right;
				}

				.speaker-controls-time span.mute {
					opacity: 0.3;
				}

				.speaker-controls-time .pacing-title {
					margin-top: 5px;
				}

				.speaker-controls-time .pacing.ahead {
					color: blue;
				}

				.speaker-controls-time .pacing.on-track {
					color: green;
				}

				.speaker-controls-time .pacing.behind {
					color: red;
				}

				.speaker-controls-notes {
					padding: 10px 16px;
				}

				.speaker-controls-notes .value {
					margin-top: 5px;
					line-height: 1.4;
					font-size: 1.2em;
				}

			/* Layout selector */
			#speaker-layout {
				position: absolute;
				top: 10px;
				right: 10px;
				color: #222;
				z-index: 10;
			}
				#speaker-layout select {
					position: absolute;
					width: 100%;
					height: 100%;
					top: 0;
					left: 0;
					border: 0;
					box-shadow: 0;
					cursor: pointer;
					opacity: 0;

					font-size: 1em;
					background-color: transparent;

					-moz-appearance: none;
					-webkit-appearance: none;
					-webkit-tap-highlight-color: rgba(0, 0, 0, 0);
				}

				#speaker-layout select:focus {
					outline: none;
					box-shadow: none;
				}

			.clear {
				clear: both;
			}

			/* Speaker layout: Wide */
			body[data-speaker-layout="wide"] #current-slide,
			body[data-speaker-layout="wide"] #upcoming-slide {
				width: 50%;
				height: 45%;
				padding: 6px;
			}

			body[data-speaker-layout="wide"] #current-slide {
				top: 0;
				left: 0;
			}

			body[data-speaker-layout="wide"] #upcoming-slide {
				top: 0;
				left: 50%;
			}

			body[data-speaker-layout="wide"] #speaker-controls {
				top: 45%;
				left: 0;
				width: 100%;
				height: 50%;
				font-size: 1.25em;
			}

			/* Speaker layout: Tall */
			body[data-speaker-layout="tall"] #current-slide,
			body[data-speaker-layout="tall"] #upcoming-slide {
				width: 45%;
				height: 50%;
				padding: 6px;
			}

			body[data-speaker-layout="tall"] #current-slide {
				top: 0;
				left: 0;
			}

			body[data-speaker-layout="tall"] #upcoming-slide {
				top: 50%;
				left: 0;
			}

			body[data-speaker-layout="tall"] #speaker-controls {
				padding-top: 40px;
				top: 0;
				left: 45%;
				width: 55%;
				height: 100%;
				font-size: 1.25em;
			}

			/* Speaker layout: Notes only */
			body[data-speaker-layout="notes-only"] #current-slide,
			body[data-speaker-layout="notes-only"] #upcoming-slide {
				display: none;
			}

			body[data-speaker-layout="notes-only"] #speaker-controls {
				padding-top: 40px;
				top: 0;
				left: 0;
				width: 100%;
				height: 100%;
				font-size: 1.25em;
			}

			@media screen and (max-width: 1080px) {
				body[data-speaker-layout="default"] #speaker-controls {
					font-size: 16px;
				}
			}

			@media screen and (max-width: 900px) {
				body[data-speaker-layout="default"] #speaker-controls {
					font-size: 14px;
				}
			}

			@media screen and (max-width: 800px) {
				body[data-speaker-layout="default"] #speaker-controls {
					font-size: 12px;
				}
			}

		</style>
	</head>

	<body>

		<div id="connection-status">Loading speaker view...</div>

		<div id="current-slide"></div>
		<div id="upcoming-slide"><span class="overlay-element label">Upcoming</span></div>
		<div id="speaker-controls">
			<div class="speaker-controls-time">
				<h4 class="label">Time <span class="reset-button">Click to Reset</span></h4>
				<div class="clock">
					<span class="clock-value">0:00 AM</span>
				</div>
				<div class="timer">
					<span class="hours-value">00</span><span class="minutes-value">:00</span><span class="seconds-value">:00</span>
				</div>
				<div class="clear"></div>

				<h4 class="label pacing-title" style="display: none">Pacing – Time to finish current slide</h4>
				<div class="pacing" style="display: none">
					<span class="hours-value">00</span><span class="minutes-value">:00</span><span class="seconds-value">:00</span>
				</div>
			</div>

			<div class="speaker-controls-notes hidden">
				<h4 class="label">Notes</h4>
				<div class="value"></div>
			</div>
		</div>
		<div id="speaker-layout" class="overlay-element interactive">
			<span class="speaker-layout-label"></span>
			<select class="speaker-layout-dropdown"></select>
		</div>

		<script>

			(function() {

				var notes,
					notesValue,
					currentState,
					currentSlide,
					upcomingSlide,
					layoutLabel,
					layoutDropdown,
					pendingCalls = {},
					lastRevealApiCallId = 0,
					connected = false

				var connectionStatus = document.querySelector( '#connection-status' );

				var SPEAKER_LAYOUTS = {
					'default': 'Default',
					'wide': 'Wide',
					'tall': 'Tall',
					'notes-only': 'Notes only'
				};

				setupLayout();

				let openerOrigin;

				try {
					openerOrigin = window.opener.location.origin;
				}
				catch ( error ) { console.warn( error ) }

				// In order to prevent XSS, the speaker view will only run if its
				// opener has the same origin as itself
				if( window.location.origin !== openerOrigin ) {
					connectionStatus.innerHTML = 'Cross origin error.<br>The speaker window can only be opened from the same origin.';
					return;
				}

				var connectionTimeout = setTimeout( function() {
					connectionStatus.innerHTML = 'Error connecting to main window.<br>Please try closing and reopening the speaker view.';
				}, 5000 );

				window.addEventListener( 'message', function( event ) {

					// Validate the origin of all messages to avoid parsing messages
					// that aren't meant for us. Ignore when running off file:// so
					// that the speaker view continues to work without a web server.
					if( window.location.origin !== event.origin && window.location.origin !== 'file://' ) {
						return
					}

					clearTimeout( connectionTimeout );
					connectionStatus.style.display = 'none';

					var data = JSON.parse( event.data );

					// The overview mode is only useful to the reveal.js instance
					// where navigation occurs so we don't sync it
					if( data.state ) delete data.state.overview;

					// Messages sent by the notes plugin inside of the main window
					if( data && data.namespace === 'reveal-notes' ) {
						if( data.type === 'connect' ) {
							handleConnectMessage( data );
						}
						else if( data.type === 'state' ) {
							handleStateMessage( data );
						}
						else if( data.type === 'return' ) {
							pendingCalls[data.callId](data.result);
							delete pendingCalls[data.callId];
						}
					}
					// Messages sent by the reveal.js inside of the current slide preview
					else if( data && data.namespace === 'reveal' ) {
						const supportedEvents = [
							'slidechanged',
							'fragmentshown',
							'fragmenthidden',
							'paused',
							'resumed',
							'previewiframe',
							'previewimage',
							'previewvideo',
							'closeoverlay'
						];

						if( /ready/.test( data.eventName ) ) {
							// Send a message back to notify that the handshake is complete
							window.opener.postMessage( JSON.stringify({ namespace: 'reveal-notes', type: 'connected'} ), '*' );
						}
						else if( supportedEvents.includes( data.eventName ) && currentState !== JSON.stringify( data.state ) ) {
							dispatchStateToMainWindow( data.state );
						}
					}

				} );

				/**
				 * Updates the presentation in the main window to match the state
				 * of the presentation in the notes window.
				 */
				const dispatchStateToMainWindow = debounce(( state ) => {
					window.opener.postMessage( JSON.stringify({ method: 'setState', args: [ state ]} ), '*' );
				}, 500);

				/**
				 * Asynchronously calls the Reveal.js API of the main frame.
				 */
				function callRevealApi( methodName, methodArguments, callback ) {

					var callId = ++lastRevealApiCallId;
					pendingCalls[callId] = callback;
					window.opener.postMessage( JSON.stringify( {
						namespace: 'reveal-notes',
						type: 'call',
						callId: callId,
						methodName: methodName,
						arguments: methodArguments
					} ), '*' );

				}

				/**
				 * Called when the main window is trying to establish a
				 * connection.
				 */
				function handleConnectMessage( data ) {

					if( connected === false ) {
						connected = true;

						setupIframes( data );
						setupKeyboard();
						setupNotes();
						setupTimer();
						setupHeartbeat();
					}

				}

				/**
				 * Called when the main window sends an updated state.
				 */
				function handleStateMessage( data ) {

					// Store the most recently set state to avoid circular loops
					// applying the same state
					currentState = JSON.stringify( data.state );

					// No need for updating the notes in case of fragment changes
					if ( data.notes ) {
						notes.classList.remove( 'hidden' );
						notesValue.style.whiteSpace = data.whitespace;
						if( data.markdown ) {
							notesValue.innerHTML = marked( data.notes );
						}
						else {
							notesValue.innerHTML = data.notes;
						}
					}
					else {
						notes.classList.add( 'hidden' );
					}

					// Don't show lightboxes in the upcoming slide
					const { previewVideo, previewImage, previewIframe, ...upcomingState } = data.state;

					// Update the note slides
					currentSlide.contentWindow.postMessage( JSON.stringify({ method: 'setState', args: [ data.state ] }), '*' );
					upcomingSlide.contentWindow.postMessage( JSON.stringify({ method: 'setState', args: [ upcomingState ] }), '*' );
					upcomingSlide.contentWindow.postMessage( JSON.stringify({ method: 'next' }), '*' );

				}

				// Limit to max one state update per X ms
				handleStateMessage = debounce( handleStateMessage, 200 );

				/**
				 * Forward keyboard events to the current slide window.
				 * This enables keyboard events to work even if focus
				 * isn't set on the current slide iframe.
				 *
				 * Block F5 default handling, it reloads and disconnects
				 * the speaker notes window.
				 */
				function setupKeyboard() {

					document.addEventListener( 'keydown', function( event ) {
						if( event.keyCode === 116 || ( event.metaKey && event.keyCode === 82 ) ) {
							event.preventDefault();
							return false;
						}
						currentSlide.contentWindow.postMessage( JSON.stringify({ method: 'triggerKey', args: [ event.keyCode ] }), '*' );
					} );

				}

				/**
				 * Creates the preview iframes.
				 */
				function setupIframes( data ) {

					var params = [
						'receiver',
						'progress=false',
						'history=false',
						'transition=none',
						'autoSlide=0',
						'backgroundTransition=none'
					].join( '&' );

					var urlSeparator = /\\?/.test(data.url) ? '&' : '?';
					var hash = '#/' + data.state.indexh + '/' + data.state.indexv;
					var currentURL = data.url + urlSeparator + params + '&scrollActivationWidth=false&postMessageEvents=true' + hash;
					var upcomingURL = data.url + urlSeparator + params + '&scrollActivationWidth=false&controls=false' + hash;

					currentSlide = document.createElement( 'iframe' );
					currentSlide.setAttribute( 'width', 1280 );
					currentSlide.setAttribute( 'height', 1024 );
					currentSlide.setAttribute( 'src', currentURL );
					document.querySelector( '#current-slide' ).appendChild( currentSlide );

					upcomingSlide = document.createElement( 'iframe' );
					upcomingSlide.setAttribute( 'width', 640 );
					upcomingSlide.setAttribute( 'height', 512 );
					upcomingSlide.setAttribute( 'src', upcomingURL );
					document.querySelector( '#upcoming-slide' ).appendChild( upcomingSlide );

				}

				/**
				 * Setup the notes UI.
				 */
				function setupNotes() {

					notes = document.querySelector( '.speaker-controls-notes' );
					notesValue = document.querySelector( '.speaker-controls-notes .value' );

				}

				/**
				 * We send out a heartbeat at all times to ensure we can
				 * reconnect with the main presentation window after reloads.
				 */
				function setupHeartbeat() {

					setInterval( () => {
						window.opener.postMessage( JSON.stringify({ namespace: 'reveal-notes', type: 'heartbeat'} ), '*' );
					}, 1000 );

				}

				function getTimings( callback ) {

					callRevealApi( 'getSlidesAttributes', [], function ( slideAttributes ) {
						callRevealApi( 'getConfig', [], function ( config ) {
							var totalTime = config.totalTime;
							var minTimePerSlide = config.minimumTimePerSlide || 0;
							var defaultTiming = config.defaultTiming;
							if ((defaultTiming == null) && (totalTime == null)) {
								callback(null);
								return;
							}
							// Setting totalTime overrides defaultTiming
							if (totalTime) {
								defaultTiming = 0;
							}
							var timings = [];
							for ( var i in slideAttributes ) {
								var slide = slideAttributes[ i ];
								var timing = defaultTiming;
								if( slide.hasOwnProperty( 'data-timing' )) {
									var t = slide[ 'data-timing' ];
									timing = parseInt(t);
									if( isNaN(timing) ) {
										console.warn("Could not parse timing '" + t + "' of slide " + i + "; using default of " + defaultTiming);
										timing = defaultTiming;
									}
								}
								timings.push(timing);
							}
							if ( totalTime ) {
								// After we've allocated time to individual slides, we summarize it and
								// subtract it from the total time
								var remainingTime = totalTime - timings.reduce( function(a, b) { return a + b; }, 0 );
								// The remaining time is divided by the number of slides that have 0 seconds
								// allocated at the moment, giving the average time-per-slide on the remaining slides
								var remainingSlides = (timings.filter( function(x) { return x == 0 }) ).length
								var timePerSlide = Math.round( remainingTime / remainingSlides, 0 )
								// And now we replace every zero-value timing with that average
								timings = timings.map( function(x) { return (x==0 ? timePerSlide : x) } );
							}
							var slidesUnderMinimum = timings.filter( function(x) { return (x < minTimePerSlide) } ).length
							if ( slidesUnderMinimum ) {
								message = "The pacing time for " + slidesUnderMinimum + " slide(s) is under the configured minimum of " + minTimePerSlide + " seconds. Check the data-timing attribute on individual slides, or consider increasing the totalTime or minimumTimePerSlide configuration options (or removing some slides).";
								alert(message);
							}
							callback( timings );
						} );
					} );

				}

				/**
				 * Return the number of seconds allocated for presenting
				 * all slides up to and including this one.
				 */
				function getTimeAllocated( timings, callback ) {

					callRevealApi( 'getSlidePastCount', [], function ( currentSlide ) {
						var allocated = 0;
						for (var i in timings.slice(0, currentSlide + 1)) {
							allocated += timings[i];
						}
						callback( allocated );
					} );

				}

				/**
				 * Create the timer and clock and start updating them
				 * at an interval.
				 */
				function setupTimer() {

					var start = new Date(),
					timeEl = document.querySelector( '.speaker-controls-time' ),
					clockEl = timeEl.querySelector( '.clock-value' ),
					hoursEl = timeEl.querySelector( '.hours-value' ),
					minutesEl = timeEl.querySelector( '.minutes-value' ),
					secondsEl = timeEl.querySelector( '.seconds-value' ),
					pacingTitleEl = timeEl.querySelector( '.pacing-title' ),
					pacingEl = timeEl.querySelector( '.pacing' ),
					pacingHoursEl = pacingEl.querySelector( '.hours-value' ),
					pacingMinutesEl = pacingEl.querySelector( '.minutes-value' ),
					pacingSecondsEl = pacingEl.querySelector( '.seconds-value' );

					var timings = null;
					getTimings( function ( _timings ) {

						timings = _timings;
						if (_timings !== null) {
							pacingTitleEl.style.removeProperty('display');
							pacingEl.style.removeProperty('display');
						}

						// Update once directly
						_updateTimer();

						// Then update every second
						setInterval( _updateTimer, 1000 );

					} );


					function _resetTimer() {

						if (timings == null) {
							start = new Date();
							_updateTimer();
						}
						else {
							// Reset timer to beginning of current slide
							getTimeAllocated( timings, function ( slideEndTimingSeconds ) {
								var slideEndTiming = slideEndTimingSeconds * 1000;
								callRevealApi( 'getSlidePastCount', [], function ( currentSlide ) {
									var currentSlideTiming = timings[currentSlide] * 1000;
									var previousSlidesTiming = slideEndTiming - currentSlideTiming;
									var now = new Date();
									start = new Date(now.getTime() - previousSlidesTiming);
									_updateTimer();
								} );
							} );
						}

					}

					timeEl.addEventListener( 'click', function() {
						_resetTimer();
						return false;
					} );

					function _displayTime( hrEl, minEl, secEl, time) {

						var sign = Math.sign(time) == -1 ? "-" : "";
						time = Math.abs(Math.round(time / 1000));
						var seconds = time % 60;
						var minutes = Math.floor( time / 60 ) % 60 ;
						var hours = Math.floor( time / ( 60 * 60 )) ;
						hrEl.innerHTML = sign + zeroPadInteger( hours );
						if (hours == 0) {
							hrEl.classList.add( 'mute' );
						}
						else {
							hrEl.classList.remove( 'mute' );
						}
						minEl.innerHTML = ':' + zeroPadInteger( minutes );
						if (hours == 0 && minutes == 0) {
							minEl.classList.add( 'mute' );
						}
						else {
							minEl.classList.remove( 'mute' );
						}
						secEl.innerHTML = ':' + zeroPadInteger( seconds );
					}

					function _updateTimer() {

						var diff, hours, minutes, seconds,
						now = new Date();

						diff = now.getTime() - start.getTime();

						clockEl.innerHTML = now.toLocaleTimeString( 'en-US', { hour12: true, hour: '2-digit', minute:'2-digit' } );
						_displayTime( hoursEl, minutesEl, secondsEl, diff );
						if (timings !== null) {
							_updatePacing(diff);
						}

					}

					function _updatePacing(diff) {

						getTimeAllocated( timings, function ( slideEndTimingSeconds ) {
							var slideEndTiming = slideEndTimingSeconds * 1000;

							callRevealApi( 'getSlidePastCount', [], function ( currentSlide ) {
								var currentSlideTiming = timings[currentSlide] * 1000;
								var timeLeftCurrentSlide = slideEndTiming - diff;
								if (timeLeftCurrentSlide < 0) {
									pacingEl.className = 'pacing behind';
								}
								else if (timeLeftCurrentSlide < currentSlideTiming) {
									pacingEl.className = 'pacing on-track';
								}
								else {
									pacingEl.className = 'pacing ahead';
								}
								_displayTime( pacingHoursEl, pacingMinutesEl, pacingSecondsEl, timeLeftCurrentSlide );
							} );
						} );
					}

				}

				/**
				 * Sets up the speaker view layout and layout selector.
				 */
				function setupLayout() {

					layoutDropdown = document.querySelector( '.speaker-layout-dropdown' );
					layoutLabel = document.querySelector( '.speaker-layout-label' );

					// Render the list of available layouts
					for( var id in SPEAKER_LAYOUTS ) {
						var option = document.createElement( 'option' );
						option.setAttribute( 'value', id );
						option.textContent = SPEAKER_LAYOUTS[ id ];
						layoutDropdown.appendChild( option );
					}

					// Monitor the dropdown for changes
					layoutDropdown.addEventListener( 'change', function( event ) {

						setLayout( layoutDropdown.value );

					}, false );

					// Restore any currently persisted layout
					setLayout( getLayout() );

				}

				/**
				 * Sets a new speaker view layout. The layout is persisted
				 * in local storage.
				 */
				function setLayout( value ) {

					var title = SPEAKER_LAYOUTS[ value ];

					layoutLabel.innerHTML = 'Layout' + ( title ? ( ': ' + title ) : '' );
					layoutDropdown.value = value;

					document.body.setAttribute( 'data-speaker-layout', value );

					// Persist locally
					if( supportsLocalStorage() ) {
						window.localStorage.setItem( 'reveal-speaker-layout', value );
					}

				}

				/**
				 * Returns the ID of the most recently set speaker layout
				 * or our default layout if none has been set.
				 */
				function getLayout() {

					if( supportsLocalStorage() ) {
						var layout = window.localStorage.getItem( 'reveal-speaker-layout' );
						if( layout ) {
							return layout;
						}
					}

					// Default to the first record in the layouts hash
					for( var id in SPEAKER_LAYOUTS ) {
						return id;
					}

				}

				function supportsLocalStorage() {

					try {
						localStorage.setItem('test', 'test');
						localStorage.removeItem('test');
						return true;
					}
					catch( e ) {
						return false;
					}

				}

				function zeroPadInteger( num ) {

					var str = '00' + parseInt( num );
					return str.substring( str.length - 2 );

				}

				/**
				 * Limits the frequency at which a function can be called.
				 */
				function debounce( fn, ms ) {

					var lastTime = 0,
						timeout;

					return function() {

						var args = arguments;
						var context = this;

						clearTimeout( timeout );

						var timeSinceLastCall = Date.now() - lastTime;
						if( timeSinceLastCall > ms ) {
							fn.apply( context, args );
							lastTime = Date.now();
						}
						else {
							timeout = setTimeout( function() {
								fn.apply( context, args );
								lastTime = Date.now();
							}, ms - timeSinceLastCall );
						}

					}

				}

			})();

		<\/script>
	</body>
</html>`),!e)return void alert("Speaker view popup failed to open. Please make sure popups are allowed and reopen the speaker view.");(function(){let o=t.getConfig().url,r=typeof o=="string"?o:window.location.protocol+"//"+window.location.host+window.location.pathname+window.location.search;l=setInterval((function(){e.postMessage(JSON.stringify({namespace:"reveal-notes",type:"connect",state:t.getState(),url:r}),"*")}),500),window.addEventListener("message",s)})()}}function i(o){let r=t.getCurrentSlide(),p=r.querySelectorAll("aside.notes"),u=r.querySelector(".current-fragment"),d={namespace:"reveal-notes",type:"state",notes:"",markdown:!1,whitespace:"normal",state:t.getState()};if(r.hasAttribute("data-notes")&&(d.notes=r.getAttribute("data-notes"),d.whitespace="pre-wrap"),u){let g=u.querySelector("aside.notes");g?(d.notes=g.innerHTML,d.markdown=typeof g.getAttribute("data-markdown")=="string",p=null):u.hasAttribute("data-notes")&&(d.notes=u.getAttribute("data-notes"),d.whitespace="pre-wrap",p=null)}p&&p.length&&(p=Array.from(p).filter((g=>g.closest(".fragment")===null)),d.notes=p.map((g=>g.innerHTML)).join(`
`),d.markdown=p[0]&&typeof p[0].getAttribute("data-markdown")=="string"),e.postMessage(JSON.stringify(d),"*")}function s(o){if((function(r){try{return window.location.origin===r.source.location.origin}catch{return!1}})(o))try{let r=JSON.parse(o.data);r&&r.namespace==="reveal-notes"&&r.type==="connected"?(clearInterval(l),a()):r&&r.namespace==="reveal-notes"&&r.type==="call"&&(function(p,u,d){let g=t[p].apply(t,u);e.postMessage(JSON.stringify({namespace:"reveal-notes",type:"return",result:g,callId:d}),"*")})(r.methodName,r.arguments,r.callId)}catch{}}function a(){t.on("slidechanged",i),t.on("fragmentshown",i),t.on("fragmenthidden",i),t.on("overviewhidden",i),t.on("overviewshown",i),t.on("paused",i),t.on("resumed",i),t.on("previewiframe",i),t.on("previewimage",i),t.on("previewvideo",i),t.on("closeoverlay",i),i()}return{id:"notes",init:function(o){t=o,/receiver/i.test(window.location.search)||(window.location.search.match(/(\?|\&)notes/gi)!==null?n():window.addEventListener("message",(r=>{if(!e&&typeof r.data=="string"){let u;try{u=JSON.parse(r.data)}catch{}u&&u.namespace==="reveal-notes"&&u.type==="heartbeat"&&(p=r.source,e&&!e.closed?e.focus():(e=p,window.addEventListener("message",s),a()))}var p})),t.addKeyBinding({keyCode:83,key:"S",description:"Speaker notes view"},(function(){n()})))},open:n}};var rt=/print-pdf/i.test(location.search),Qn=.72,Gn=1.25,ti=.03,Re=[1.6,1.5,1.4,1.3,1.2,...rt?[1.1,1,.91,.82,.74,.66]:[]],ei=".live, .lmcourse-widget, [data-lm-suppress-shortcuts]",ni=`${ei}, input, select, textarea, [role="grid"], [role="slider"]`,ii=new Set(["Enter"," ","Spacebar"]),si=new Set(["ArrowUp","ArrowDown","PageUp","PageDown","Home","End"," "]),Le="lmcourse-deck-theme",Nn=matchMedia("(prefers-color-scheme: dark)");function Te(l){try{return l(localStorage)}catch{return null}}function Ce(l){let t=rt?!1:l?l==="dark":Nn.matches;document.documentElement.dataset.theme=t?"dark":"light"}function ai(){let l=document.documentElement.dataset.theme==="dark"?"light":"dark";Te(t=>t.setItem(Le,l)),Ce(l)}function Ut(l){if(l.scrollHeight>l.clientHeight+1)return!0;let t=l.matches(":not(.tall)")&&l.querySelector(".live .lm-stage");if(t&&t.scrollHeight>t.clientHeight+1)return!0;let e=l.querySelectorAll(".column, .equation > .scroll, pre, .table"),n=l.getBoundingClientRect().bottom+1;return[...l.querySelectorAll(".column")].some(i=>i.lastElementChild?.getBoundingClientRect().bottom>n)?!0:[...e].some(i=>i.scrollWidth>i.clientWidth+1)}function Vt(l){let t=l.querySelector(":scope > .body");if(!t)return;if(t.querySelector(".live")){ri(l,t);return}t.classList.remove("scrolls");let e=l.querySelector(".figure, .live")?1:Gn;l.style.setProperty("--fit",e);let n=rt?.4:Qn;for(;Ut(t)&&e>n;)e=Math.max(e-ti,n),l.style.setProperty("--fit",e.toFixed(2));let i=Ut(t);i&&!rt&&l.style.setProperty("--fit",1),l.dataset.fit=e.toFixed(2),t.classList.toggle("scrolls",i),i?t.setAttribute("tabindex","0"):t.removeAttribute("tabindex")}function ri(l,t){let e=Number(l.dataset.fit??Re[0]),n=l.dataset.fit&&Ut(t)?Re.find(i=>i<e):e;l.dataset.fit=n??e,l.style.setProperty("--zoom",l.dataset.fit),n===void 0&&t.classList.add("tall")}async function oi(l){l.classList.add("measuring"),l.getBoundingClientRect(),await document.fonts.ready,l.querySelectorAll(".sheet").forEach(Vt),l.classList.remove("measuring")}function li(l){let t=document.activeElement;return!t||t===document.body?!0:t.closest(ni)?(l.key==="Escape"&&t.blur(),!1):t.closest("summary, button, a[href]")&&ii.has(l.key)?!1:!(t.closest(".scrolls, [tabindex='0']")&&si.has(l.key))}function ci(l){for(let t of l.querySelectorAll(".sheet details"))rt&&(t.open=!0),t.addEventListener("toggle",()=>{let e=t.closest(".sheet");e&&!rt&&Vt(e)})}async function di(){for(let l=0;l<4;l+=1)await new Promise(requestAnimationFrame);await new Promise(l=>setTimeout(l,50))}function hi(l){let t=n=>{let i=n.querySelector(":scope > .body"),s=n.dataset.fit;i.clientHeight&&Ut(i)&&Vt(n),n.dataset.fit!==s?di().then(()=>t(n)):delete n.dataset.fitting},e=new ResizeObserver(n=>{for(let i of new Set(n.map(({target:s})=>s.closest(".sheet"))))i.dataset.fitting||(i.dataset.fitting="true",setTimeout(t,120,i))});for(let n of l.querySelectorAll(".sheet .live > *"))e.observe(n)}function ui(l,t){let e=()=>{t.isScrollView()&&l.querySelectorAll("section[aria-hidden]").forEach(n=>n.removeAttribute("aria-hidden"))};new MutationObserver(e).observe(l,{subtree:!0,attributeFilter:["aria-hidden"]}),e()}async function pi(l,t){await t;for(let e of l.querySelectorAll(".live")){for(let n=0;n<50&&!e.querySelector(".lm svg, .lm canvas");n+=1)await new Promise(i=>setTimeout(i,50));for(let n of Re)Vt(e.closest(".sheet")),await new Promise(i=>setTimeout(i,50))}}async function gi(){let l=document.querySelector(".reveal");Ce(Te(i=>i.getItem(Le))),Nn.addEventListener("change",()=>Ce(Te(i=>i.getItem(Le)))),ci(l);let t=matchMedia("(prefers-reduced-motion: reduce)").matches,e=new at(l,{width:1280,height:720,margin:0,center:!1,hash:!0,navigationMode:"linear",slideNumber:"c/t",scrollLayout:"compact",scrollSnap:!1,transition:t?"none":"fade",transitionSpeed:"fast",backgroundTransition:"none",pdfMaxPagesPerSlide:1,pdfSeparateFragments:!1,keyboardCondition:li,plugins:[In]}),n=rt?new Promise(i=>e.on("pdf-ready",i)):null;await oi(l),await e.initialize(),rt&&await pi(l,n),e.addKeyBinding({keyCode:84,key:"T",description:"Light or dark"},ai),e.addKeyBinding({keyCode:69,key:"E",description:"Pages for printing (then Ctrl-P)"},()=>open(`${location.pathname}?print-pdf`,"_blank")),rt||hi(l),ui(l,e),globalThis.Reveal=e,document.documentElement.dataset.ready="true"}gi();})();
